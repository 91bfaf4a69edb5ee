// What an agent thinks: of one position, and of a whole game.

import { call } from "./api.js";
import { el, tell } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const BLUNDERS = 5; // marked in a game

export function analysis(box, token, now, go, shares) {
  let stopped = new AbortController();
  const curves = new Map(); // by judge: by decision, what it found
  const judges = el("select", { id: "judge", "aria-label": "Judge" });
  const one = el("button", { type: "button", id: "analyse", onclick: analyseOne }, "Analyse position");
  const all = el("button", { type: "button", id: "analyse-game", onclick: analyseAll }, "Whole game");
  const progress = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Positions analysed" });
  const rows = el("div", { class: "rows" });
  const chart = el("div", { class: "chart" });
  box.append(el("h2", {}, "Analysis"), el("div", { class: "tools" }, judges, one, all), progress, chart, rows);
  call("offers").then((offers) => {
    for (const agent of offers.agents.filter((name) => name !== "random")) judges.append(el("option", { value: agent }, agent));
    judges.value = offers.agents.at(-1);
  }, () => {});

  async function ask(ply) {
    return call("analyse", { token, body: { ply, judge: judges.value }, signal: stopped.signal });
  }

  async function analyseOne() {
    const { shown } = now();
    one.disabled = true;
    try {
      const found = await ask(shown.ply);
      if (now().shown.ply === shown.ply) list(found);
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
    }
    one.disabled = false;
  }

  function list(found) {
    shares(found.actions);
    if (!found.actions.length) return rows.replaceChildren(el("p", {}, "The game is over."));
    const head = el("tr", {}, ...["Move", "Visits", "Prior", "Value"].map((name) => el("th", { scope: "col" }, name)));
    const body = found.actions.slice(0, 12).map((action) =>
      el(
        "tr",
        {},
        el("td", {}, action.label),
        el("td", {}, el("meter", { min: 0, max: 1, value: action.share, "aria-label": "share of the visits" }), ` ${Math.round(100 * action.share)}%`),
        el("td", {}, action.prior === null || action.prior === undefined ? "–" : `${Math.round(100 * action.prior)}%`),
        el("td", {}, action.value === null || action.value === undefined ? "–" : action.value.toFixed(2)),
      ),
    );
    const values = found.values ? found.values.map((value, seat) => `seat ${seat}: ${value.toFixed(2)}`).join(", ") : "this judge does not estimate values";
    rows.replaceChildren(el("p", {}, `Expected returns: ${values}`), el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
    return undefined;
  }

  async function analyseAll() {
    if (all.textContent === "Stop") return stop();
    const { view } = now();
    const plies = [0, ...view.moves.map((move) => move.ply)];
    const judge = judges.value;
    const found = curves.get(judge) || new Map();
    curves.set(judge, found);
    all.textContent = "Stop";
    progress.hidden = false;
    try {
      for (const [number, ply] of plies.entries()) {
        if (!found.has(ply)) found.set(ply, await ask(ply));
        progress.value = (number + 1) / plies.length;
        if (number % 4 === 3 || number + 1 === plies.length) plot();
      }
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
    }
    all.textContent = "Whole game";
    progress.hidden = true;
    plot();
    return undefined;
  }

  function stop() {
    stopped.abort();
    stopped = new AbortController();
  }

  // The largest drops of the mover's own value.
  function blunders(found, view) {
    const drops = [];
    let before = 0;
    for (const move of view.moves) {
      const [old, next] = [found.get(before)?.values, found.get(move.ply)?.values];
      if (old && next) drops.push({ ...move, drop: old[move.seat] - next[move.seat] });
      before = move.ply;
    }
    return drops.filter((move) => move.drop > 0.1).sort((a, b) => b.drop - a.drop).slice(0, BLUNDERS);
  }

  function plot() {
    const { view } = now();
    const [width, height] = [320, 150];
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("role", "img");
    const x = (ply) => 4 + ((width - 8) * ply) / Math.max(1, view.count);
    const lines = [...curves].flatMap(([judge, found]) => view.players.map((_, seat) => ({ judge, found, seat })));
    const values = lines.flatMap(({ found, seat }) => [...found.values()].map((one) => one.values?.[seat] ?? 0));
    const [low, high] = [Math.min(-1, ...values), Math.max(1, ...values)];
    const y = (value) => 6 + ((height - 12) * (high - value)) / (high - low);
    add(svg, "line", { x1: 0, x2: width, y1: y(0), y2: y(0), class: "zero" });
    let number = 0;
    let last = null;
    for (const { judge, found, seat } of lines) {
      if (judge !== last) number += last === null ? 0 : 1;
      last = judge;
      const points = [...found].filter(([, one]) => one.values).sort((a, b) => a[0] - b[0]).map(([ply, one]) => `${x(ply)},${y(one.values[seat])}`);
      add(svg, "polyline", { points: points.join(" "), class: `curve s${seat % 4} j${number % 3}` });
    }
    const found = curves.get(judges.value) || new Map();
    const marked = blunders(found, view);
    for (const move of marked) {
      const at = found.get(move.ply).values[move.seat];
      add(svg, "circle", { cx: x(move.ply), cy: y(at), r: 5, class: "blunder" });
    }
    svg.setAttribute("aria-label", `Expected return of each seat over the game, judged by ${[...curves.keys()].join(" and ")}`);
    svg.addEventListener("click", (event) => {
      const at = svg.getBoundingClientRect();
      go(Math.round(((event.clientX - at.x) / at.width) * view.count));
    });
    const items = marked.map((move) =>
      el("li", {}, el("button", { type: "button", class: "link", onclick: () => go(move.ply) }, `seat ${move.seat}: ${move.text} (−${move.drop.toFixed(2)})`)),
    );
    chart.replaceChildren(svg, items.length ? el("p", {}, "Largest drops:") : "", el("ol", { class: "plain" }, ...items));
  }

  return {
    stop,
    moved(ply) {
      const found = curves.get(judges.value)?.get(ply);
      if (found) list(found);
      else rows.replaceChildren();
    },
  };
}

function add(parent, name, attributes) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  parent.append(element);
}
