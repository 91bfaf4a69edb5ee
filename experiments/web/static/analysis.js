// What agents think: of one position, and of a whole game; several judges side by side.

import { call } from "./api.js";
import { lines } from "./chart.js";
import { el, tell } from "./dom.js";

const BLUNDERS = 5; // marked in a game
const LEAST_DROP = 0.05; // of the chance to win

export function analysis(box, token, now, go, mark) {
  let stopped = new AbortController();
  let working = false;
  const found = new Map(); // by judge: by decision, what it found
  const judges = el("fieldset", { class: "judges", id: "judges" }, el("legend", {}, "Judges"));
  const one = el("button", { type: "button", id: "analyse", onclick: () => work([now().shown.ply]) }, "Analyse position");
  const all = el("button", { type: "button", id: "analyse-game", onclick: () => work([0, ...now().view.moves.map((move) => move.ply)]) }, "Whole game");
  const stop = el("button", { type: "button", id: "stop", hidden: true, onclick: halt }, "Stop");
  const progress = el("progress", { max: 1, value: 0, hidden: true, "aria-label": "Positions analysed" });
  const count = el("p", { class: "faint", id: "analysed", hidden: true });
  const seat = el("select", { id: "chance-of", "aria-label": "Whose chance to win", hidden: true, onchange: plot });
  const rows = el("div", { class: "rows" });
  const chart = el("div", { id: "chances" });
  box.append(el("h2", {}, "Analysis"), judges, el("div", { class: "tools" }, one, all, stop, seat), progress, count, chart, rows);
  call("offers").then((offers) => {
    const offered = offers.agents.filter((name) => name !== "random");
    for (const agent of offered) {
      const choice = el("input", { type: "checkbox", name: "judge", value: agent, id: `judge-${agent}`, checked: agent === offered.at(-1), onchange: () => (plot(), list(now().shown.ply)) });
      judges.append(el("label", { for: choice.id }, choice, ` ${agent}`));
    }
  }, () => {});

  const chosen = () => [...judges.querySelectorAll("input:checked")].map((one_) => one_.value);
  const of = (judge) => {
    if (!found.has(judge)) found.set(judge, new Map());
    return found.get(judge);
  };

  async function work(plies) {
    if (working) return;
    const asked = chosen();
    if (!asked.length) return tell("choose a judge");
    const tasks = asked.flatMap((judge) => plies.filter((ply) => !of(judge).has(ply)).map((ply) => [judge, ply]));
    if (!tasks.length) return finish(plies); // all is known already
    working = one.disabled = all.disabled = true;
    stop.hidden = progress.hidden = count.hidden = false;
    let done = 0;
    const report = () => {
      progress.value = done / tasks.length;
      count.textContent = `${done} of ${tasks.length} ${tasks.length === 1 ? "position" : "positions"}${asked.length > 1 ? `, for ${asked.length} judges together` : ""}`;
    };
    report();
    try {
      // Two at a time, as many as a server of the usual size can think about at once.
      const queue = tasks[Symbol.iterator]();
      const signal = stopped.signal;
      const next = async () => {
        for (const [judge, ply] of queue) {
          of(judge).set(ply, await call("analyse", { token, body: { ply, judge }, signal }));
          done += 1;
          report();
          if (plies.length > 1 && done % 4 === 0) plot();
        }
      };
      await Promise.all([next(), next()]);
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
      halt();
    }
    working = one.disabled = all.disabled = false;
    stop.hidden = progress.hidden = count.hidden = true;
    return finish(plies);
  }

  function finish(plies) {
    if (plies.length > 1) plot();
    list(now().shown.ply);
  }

  function halt() {
    stopped.abort();
    stopped = new AbortController();
  }

  const percent = (share) => (share === null || share === undefined ? "–" : `${Math.round(100 * share)}%`);

  function list(ply) {
    const known = chosen().filter((judge) => found.get(judge)?.has(ply));
    if (!known.length) {
      rows.replaceChildren();
      return mark([], []);
    }
    const strongest = known.at(-1);
    const drawn = of(strongest).get(ply);
    mark(drawn.actions, drawn.line);
    const note = known.length > 1 ? el("p", { class: "faint" }, `On the picture: ${strongest}.`) : "";
    rows.replaceChildren(note, ...known.map((judge) => opinion(judge, of(judge).get(ply))));
    return undefined;
  }

  function opinion(judge, entry) {
    const { view } = now();
    const box_ = el("div", { class: "opinion", "data-judge": judge }, el("h3", {}, judge));
    if (entry.chances) {
      const words = view.cooperative ? `Chance to win: ${percent(entry.chances[0])}` : `Chance to win: ${entry.chances.map((chance, i) => `seat ${i} ${percent(chance)}`).join(", ")}`;
      box_.append(el("p", {}, words));
    } else box_.append(el("p", { class: "faint" }, "This judge does not estimate chances."));
    if (entry.line.length) box_.append(el("p", {}, "Best line: ", ...entry.line.map((step, i) => el("span", { class: "step" }, `${i + 1}. ${step.label}`))));
    if (!entry.actions.length) {
      box_.append(el("p", {}, "The game is over."));
      return box_;
    }
    if (entry.actions.every((action) => action.visits === null)) return box_; // its choice is its line
    const columns = view.cooperative ? ["Chance"] : view.players.map((_, i) => `Seat ${i}`);
    const head = el("tr", {}, ...["Move", "Visits", "Prior", ...columns].map((name) => el("th", { scope: "col" }, name)));
    const body = entry.actions.slice(0, 10).map((action) =>
      el("tr", {}, el("td", {}, action.label), el("td", {}, el("meter", { min: 0, max: 1, value: action.share, "aria-label": "share of the visits" }), ` ${action.visits ?? "–"}`), el("td", {}, percent(action.prior)), ...columns.map((_, i) => el("td", {}, percent(action.chances?.[i])))),
    );
    box_.append(el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
    return box_;
  }

  // The largest drops of the mover's own chance.
  function blunders(entries, view) {
    const drops = [];
    let before = 0;
    for (const move of view.moves) {
      const [old, next] = [entries.get(before)?.chances, entries.get(move.ply)?.chances];
      if (old && next) drops.push({ ...move, before, drop: old[move.seat] - next[move.seat], at: next[move.seat], better: entries.get(before).actions[0]?.label });
      before = move.ply;
    }
    return drops.filter((move) => move.drop > LEAST_DROP).sort((a, b) => b.drop - a.drop).slice(0, BLUNDERS);
  }

  function plot() {
    const { view, shown } = now();
    const shownJudges = chosen().filter((judge) => [...(found.get(judge)?.values() || [])].filter((entry) => entry.chances).length > 1);
    if (!shownJudges.length) return chart.replaceChildren();
    const several = shownJudges.length > 1;
    if (!seat.childElementCount) {
      if (!view.cooperative) seat.append(el("option", { value: "all" }, "all seats"), ...view.players.map((_, i) => el("option", { value: i }, `seat ${i}`)));
      else seat.append(el("option", { value: 0 }, "everybody"));
    }
    seat.hidden = view.cooperative;
    if (several && seat.value === "all") seat.value = 0;
    const seats = seat.value === "all" ? view.players.map((_, i) => i) : [Number(seat.value)];
    const series = [];
    const items = [];
    for (const [number, judge] of shownJudges.entries()) {
      const entries = [...of(judge)].filter(([, entry]) => entry.chances);
      const drops = blunders(of(judge), view);
      for (const i of seats)
        series.push({
          label: `${view.cooperative ? "" : `seat ${i}`}${several ? ` ${judge}` : ""}`.trim() || judge,
          points: entries.map(([ply, entry]) => [ply, entry.chances[i]]),
          style: several ? `s${number % 4} j${number % 3}` : `s${i % 4}`,
          marks: drops.filter((move) => move.seat === i || view.cooperative).map((move) => [move.ply, move.at, move.text]),
        });
      for (const move of drops)
        items.push({ ...move, judge: several ? judge : "the judge" });
    }
    items.sort((a, b) => b.drop - a.drop);
    const label = `Chance to win over the game, judged by ${shownJudges.join(" and ")}`;
    chart.replaceChildren(lines(series, { label, pick: (ply) => go(nearest(ply)), most: view.count, now: shown.ply, x: "decisions" }), items.length ? el("p", {}, "Largest drops of the mover's chance, in points of 100:") : "", el("ol", { class: "plain drops" }, ...items.map(dropItem)));
    return undefined;
  }

  function dropItem(move) {
    const what = el("span", { class: "what" }, `seat ${move.seat}: ${move.words || move.text}`);
    const points = el("span", { class: "points" }, ` −${Math.round(100 * move.drop)}`);
    const better = el("span", { class: "faint" }, ` ${move.judge} would ${move.better}`);
    return el("li", {}, el("button", { type: "button", class: "link", title: "Go to the position before this move", onclick: () => go(move.before) }, what, points, better));
  }

  function nearest(ply) {
    const ends = [0, ...now().view.moves.map((move) => move.ply)];
    return ends.reduce((best, end) => (Math.abs(end - ply) < Math.abs(best - ply) ? end : best), 0);
  }

  return {
    stop: halt,
    moved(ply) {
      if (chart.childElementCount) plot();
      list(ply);
    },
  };
}
