// The picture of a position: lit where something can be clicked.

import { svgElement } from "./chart.js";

const NARROW = 620; // pixels, below which the panels of the picture stand one below the other

const labels = new WeakMap(); // by box: what its targets were called when last drawn; what has changed flashes

export function draw(box, view, pick, choosing = view.legal.length > 0) {
  const whole = new DOMParser().parseFromString(view.svg, "image/svg+xml").documentElement;
  whole.removeAttribute("width");
  whole.removeAttribute("height");
  whole.querySelector(":scope > title")?.remove();
  const narrow = box.clientWidth < NARROW;
  const parts = narrow ? Object.entries(view.panels).map(([name, panel]) => cut(whole, name, panel)) : [whole];
  if (!narrow) whole.setAttribute("aria-label", view.caption);
  const byTarget = new Map();
  for (const action of view.legal)
    for (const target of action.targets) byTarget.set(target, [...(byTarget.get(target) || []), action]);
  const clickable = new Set(view.clickable);
  const before = labels.get(box);
  const now = new Map();
  const focused = document.activeElement?.dataset?.target;
  box.replaceChildren();
  for (const part of parts) {
    part.setAttribute("class", "picture");
    part.setAttribute("role", "group");
    for (const target of part.querySelectorAll("[data-target]")) {
      const name = target.dataset.target;
      if (clickable.has(name)) target.classList.add("clickable");
      const label = target.querySelector("title").textContent;
      now.set(name, label);
      if (before?.has(name) && before.get(name) !== label) target.classList.add("moved");
      const actions = byTarget.get(name);
      if (!actions || !pick) continue;
      target.classList.add("legal");
      const halo = target.cloneNode();
      halo.setAttribute("class", "halo");
      halo.removeAttribute("data-target");
      target.before(halo);
      target.setAttribute("tabindex", "0");
      target.setAttribute("role", "button");
      target.setAttribute("aria-label", `${actions.map((action) => action.label).join(" or ")} (${label})`);
      target.addEventListener("click", () => pick(actions, target));
      target.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        pick(actions, target);
      });
    }
    box.append(part);
  }
  labels.set(box, now);
  if (choosing) dim(box, view);
  if (focused) box.querySelector(`.legal[data-target="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// Dim what cannot be chosen, in the parts of the picture where something can.
function dim(box, view) {
  const panels = Object.values(view.panels);
  const panelOf = (target) => {
    const [x, y] = middle(target);
    return panels.findIndex((one) => x >= one.x && y >= one.y && x <= one.x + one.width && y <= one.y + one.height);
  };
  const lit = new Set([...box.querySelectorAll(".legal")].map(panelOf));
  for (const target of box.querySelectorAll(".clickable:not(.legal)")) target.classList.toggle("dim", lit.has(panelOf(target)));
}

function cut(whole, name, panel) {
  const part = whole.cloneNode(true);
  part.setAttribute("viewBox", `${panel.x} ${panel.y} ${panel.width} ${panel.height}`);
  part.setAttribute("aria-label", name);
  part.dataset.panel = name;
  for (const target of part.querySelectorAll("[data-target]")) {
    const [x, y] = middle(target);
    if (x < panel.x || y < panel.y || x > panel.x + panel.width || y > panel.y + panel.height) target.remove();
  }
  return part;
}

export function middle(target) {
  const points = target.getAttribute("points").split(" ").map((pair) => pair.split(",").map(Number));
  return [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
}

// Circles whose area is the share of an action, over what it names.
export function addShares(box, actions) {
  for (const old of box.querySelectorAll(".share")) old.remove();
  const sums = new Map();
  for (const action of actions)
    for (const target of action.targets.slice(0, 1)) sums.set(target, (sums.get(target) || 0) + action.share);
  for (const [name, share] of sums) {
    if (share < 0.005) continue;
    for (const target of box.querySelectorAll(`[data-target="${CSS.escape(name)}"]`)) {
      const [x, y] = middle(target);
      const size = Math.min(target.getBBox().width, target.getBBox().height) / 2;
      const group = document.createElementNS("http://www.w3.org/2000/svg", "g");
      group.setAttribute("class", "share");
      const circle = document.createElementNS(group.namespaceURI, "circle");
      const words = document.createElementNS(group.namespaceURI, "text");
      for (const [key, value] of [["cx", x], ["cy", y], ["r", size * Math.sqrt(share)]]) circle.setAttribute(key, value);
      for (const [key, value] of [["x", x], ["y", y + 4], ["font-size", 11], ["text-anchor", "middle"]])
        words.setAttribute(key, value);
      words.textContent = `${Math.round(100 * share)}%`;
      group.append(circle, words);
      target.parentNode.append(group);
    }
  }
}

// A line of play: numbers on the places that it names, one after the other; those of one seat in a row are joined.
export function addLine(box, line) {
  for (const old of box.querySelectorAll(".line")) old.remove();
  const numbers = new Map();
  for (const [i, step] of line.entries()) for (const target of step.targets.slice(0, 1)) numbers.set(target, [...(numbers.get(target) || []), i + 1]);
  for (const picture of box.querySelectorAll(".picture")) {
    const group = svgElement("g", { class: "line" });
    const at = new Map(); // by number of the step: its place in this picture
    for (const [target, steps] of numbers) {
      const place = picture.querySelector(`[data-target="${CSS.escape(target)}"]`);
      if (!place) continue;
      const [x, y] = middle(place);
      for (const number of steps) at.set(number, [x, y]);
      svgElement("circle", { cx: x, cy: y, r: 9 }, group);
      svgElement("text", { x, y: y + 4, "font-size": 12, "text-anchor": "middle" }, group, steps.join(","));
    }
    for (const [i, step] of line.entries()) {
      const [from, to] = [at.get(i), at.get(i + 1)];
      if (i === 0 || !from || !to || line[i - 1].seat !== step.seat) continue;
      group.prepend(svgElement("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1] }));
    }
    if (at.size) picture.append(group);
  }
}

// The legal target that lies next in the direction of an arrow key.
export function step(box, key) {
  const here = document.activeElement;
  const all = [...box.querySelectorAll(".legal")];
  if (!all.length) return false;
  if (!all.includes(here)) {
    all[0].focus();
    return true;
  }
  const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key];
  const center = (one) => {
    const at = one.getBoundingClientRect();
    return [at.x + at.width / 2, at.y + at.height / 2];
  };
  const [x, y] = center(here);
  let best = null;
  let least = Infinity;
  for (const one of all) {
    const [ox, oy] = center(one);
    const along = (ox - x) * dx + (oy - y) * dy;
    const aside = Math.abs((ox - x) * dy) + Math.abs((oy - y) * dx);
    if (one !== here && along > 1 && along + 2 * aside < least) {
      best = one;
      least = along + 2 * aside;
    }
  }
  best?.focus();
  return true;
}
