// The picture of a position: lit where something can be clicked.

import { svgElement } from "./chart.js";

const NARROW = 620; // pixels, below which the panels of the picture stand one below the other
const MOST_ENLARGED = 1.1; // of such a panel, so that the letters of a small one are not larger than all others

const labels = new WeakMap(); // by box: what its targets were called when last drawn; what has changed flashes
const turns = new WeakMap(); // by box: what they were called after the viewer's last decision; what has changed is marked

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
  const changed = (from) => [...now].filter(([name, label]) => from?.has(name) && from.get(name) !== label).map(([name]) => name);
  mark(box, changed(before), "moved");
  let turn = turns.get(box);
  if (!view.mine && (!turn || turn.news)) turn = { labels: now }; // the viewer has decided; others do from here on
  if (view.mine && turn && !turn.news) turn = { ...turn, count: view.count, news: changed(turn.labels) };
  if (turn) turns.set(box, turn);
  if (view.mine && turn?.count === view.count) mark(box, turn.news, "news");
  if (choosing) dim(box, view);
  if (focused) box.querySelector(`.legal[data-target="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// A class for targets, but not for those that hold others: where everything changes, nothing is told.
function mark(box, names, word) {
  for (const picture of names.length ? box.querySelectorAll(".picture") : []) {
    const all = [...picture.querySelectorAll("[data-target]")];
    const middles = all.map(middle);
    for (const target of all.filter((one) => names.includes(one.dataset.target))) {
      const [left, top, right, bottom] = edges(target);
      const holds = middles.some(([x, y], i) => all[i] !== target && x > left && x < right && y > top && y < bottom);
      if (!holds) target.classList.add(word);
    }
  }
}

const panelAt = (panels, [x, y]) => Object.values(panels).findIndex((one) => x >= one.x && y >= one.y && x <= one.x + one.width && y <= one.y + one.height);

// Dim what cannot be chosen, in the parts of the picture where something can.
function dim(box, view) {
  const panelOf = (target) => panelAt(view.panels, middle(target));
  const lit = new Set([...box.querySelectorAll(".legal")].map(panelOf));
  for (const target of box.querySelectorAll(".clickable:not(.legal)")) target.classList.toggle("dim", lit.has(panelOf(target)));
}

function cut(whole, name, panel) {
  const part = whole.cloneNode(true);
  part.setAttribute("viewBox", `${panel.x} ${panel.y} ${panel.width} ${panel.height}`);
  part.setAttribute("aria-label", name);
  part.dataset.panel = name;
  part.style.maxWidth = `${MOST_ENLARGED * panel.width}px`;
  for (const target of part.querySelectorAll("[data-target]")) {
    const [x, y] = middle(target);
    if (x < panel.x || y < panel.y || x > panel.x + panel.width || y > panel.y + panel.height) target.remove();
  }
  return part;
}

const corners = (target) => target.getAttribute("points").split(" ").map((pair) => pair.split(",").map(Number));

function edges(target) {
  const [xs, ys] = [0, 1].map((axis) => corners(target).map((point) => point[axis]));
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

export function middle(target) {
  const points = corners(target);
  return [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
}

// Circles whose area is the share of an action, on what it names; the number stands above, so that both can be read.
export function addShares(box, actions) {
  for (const old of box.querySelectorAll(".share")) old.remove();
  const sums = new Map();
  for (const action of actions)
    for (const target of action.targets.slice(0, 1)) sums.set(target, (sums.get(target) || 0) + action.share);
  for (const [name, share] of sums) {
    if (share < 0.005) continue;
    for (const target of box.querySelectorAll(`[data-target="${CSS.escape(name)}"]`)) {
      const [x, y] = middle(target);
      const [left, top, right, bottom] = edges(target);
      const size = Math.min(right - left, bottom - top) / 2;
      const group = svgElement("g", { class: "share" }, target.parentNode);
      svgElement("circle", { cx: x, cy: y, r: size * Math.sqrt(share) }, group);
      svgElement("rect", { x: x - 13, y: top - 4, width: 26, height: 13, rx: 6 }, group);
      svgElement("text", { x, y: top + 6, "font-size": 10, "text-anchor": "middle" }, group, `${Math.round(100 * share)}%`);
    }
  }
}

// A line of play: numbers on the places that it names, one after the other; those of one seat in a row are joined if they
// lie in one panel: from a hand to the map, lines would cross all that stands between.
export function addLine(box, line, panels) {
  for (const old of box.querySelectorAll(".line")) old.remove();
  const numbers = new Map();
  for (const [i, step] of line.entries()) for (const target of step.targets.slice(0, 1)) numbers.set(target, [...(numbers.get(target) || []), i + 1]);
  for (const picture of box.querySelectorAll(".picture")) {
    const group = svgElement("g", { class: "line" });
    const at = new Map(); // by number of the step: its place in this picture
    for (const [target, steps] of numbers) {
      const place = picture.querySelector(`[data-target="${CSS.escape(target)}"]`);
      if (!place) continue;
      const [left, top, right, bottom] = edges(place);
      const [x, y] = [left + 0.72 * (right - left), top + 0.72 * (bottom - top)]; // beside what is written in the middle
      for (const number of steps) at.set(number, [x, y]);
      svgElement("circle", { cx: x, cy: y, r: 9 }, group);
      svgElement("text", { x, y: y + 4, "font-size": 12, "text-anchor": "middle" }, group, steps.join(","));
    }
    for (const [i, step] of line.entries()) {
      const [from, to] = [at.get(i), at.get(i + 1)];
      if (i === 0 || !from || !to || line[i - 1].seat !== step.seat || panelAt(panels, from) !== panelAt(panels, to)) continue;
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
