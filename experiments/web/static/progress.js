// Tournaments and training beside the table: the leaderboard, and the folders that the server was started with.

import { call } from "./api.js";
import { el, tell } from "./dom.js";
import { open } from "./lobby.js";
import { lines } from "./chart.js";

const REFRESH = 5000; // milliseconds between two looks at the runs
const MOST_GAMES = 200; // in a list

export function progress(main) {
  document.title = "Results";
  const away = new AbortController();
  const boards = el("select", { id: "board-name", "aria-label": "Tournament", onchange: () => show(boards.value) });
  const table = el("div", { class: "rows", id: "payoff" });
  const games = el("div", { id: "games" });
  const runs = el("div", { id: "runs", class: "fields wide" });
  main.append(
    el(
      "div",
      { class: "pages" },
      el("section", { class: "card" }, el("h1", {}, "Tournaments"), el("div", { class: "tools" }, boards), table, games),
      el("section", { class: "card" }, el("h2", {}, "Training"), runs),
    ),
  );
  call("boards").then(
    (found) => {
      for (const { name, title } of found.boards) boards.append(el("option", { value: name }, title));
      if (found.boards.length) show(found.boards[0].name);
      else table.replaceChildren(el("p", {}, "There are no results. Name folders of tournaments with --folders."));
    },
    (error) => tell(error.message),
  );
  watch();

  async function show(name) {
    games.replaceChildren();
    table.replaceChildren(el("p", { class: "faint" }, "Reading the results"));
    try {
      const found = await call(`boards?name=${encodeURIComponent(name)}`, { signal: away.signal });
      if (boards.value !== name) return; // another one has been chosen since
      if (found.cooperative) drawRates(found);
      else draw(name, found);
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
    }
  }

  function draw(name, found) {
    const specs = found.agents.map((agent) => agent.spec);
    const wins = found.free_for_all ? ["win share"] : [];
    const ratings = found.agents.some((agent) => agent.rating) ? ["rating"] : [];
    const asides = [...ratings, ...wins, "CPU time"];
    const head = el("tr", {}, ...["agent", ...asides, ...specs.map((_, i) => `${i + 1}`)].map((text, i) => el("th", { scope: "col", class: i >= 1 && i <= asides.length ? "aside" : null }, text)));
    const rows = found.agents.map((agent, i) =>
      el(
        "tr",
        {},
        el("th", { scope: "row" }, `${i + 1}  ${agent.spec}`),
        ...ratings.map(() => el("td", { class: "aside" }, agent.rating)),
        ...wins.map(() => el("td", { class: "aside" }, agent.wins)),
        el("td", { class: "aside" }, agent.time),
        ...specs.map((other) => cell(name, found, agent.spec, other)),
      ),
    );
    table.replaceChildren(
      el("p", {}, `${found.title}. ${meaning(found)}`),
      el("table", { class: "payoff" }, el("thead", {}, head), el("tbody", {}, ...rows)),
    );
  }

  // A cooperative game: what an agent on all seats won, a row for each value of an option that differs.
  function drawRates(found) {
    const head = el("tr", {}, ...["agent", ...found.labels, ...found.columns].map((text) => el("th", { scope: "col" }, text)));
    const groups = [...new Set(found.rows.map((row) => row.spec))].map((spec) => {
      const alike = found.rows.filter((row) => row.spec === spec);
      const name = alike[0].cheats ? `${spec} (sees all cards)` : spec;
      const agent = el("th", { scope: alike.length > 1 ? "rowgroup" : "row", rowspan: alike.length }, name);
      const lines = alike.map((row, i) => {
        const values = row.values.map((value) => el("th", { scope: "row" }, value));
        return el("tr", {}, i ? null : agent, ...values, ...row.cells.map((entry, n) => rate(row, found.columns[n], entry)));
      });
      return el("tbody", {}, ...lines);
    });
    table.replaceChildren(
      el("p", {}, `${found.title}. Games won with the agent on every seat. A click on a cell shows its interval and, where that was noted, how its games ended.`),
      el("table", { class: "payoff rates" }, el("thead", {}, head), ...groups),
    );
  }

  function rate(row, column, entry) {
    if (!entry) return el("td", {}, "");
    const title = `${[row.spec, ...row.values, column].join(", ")}: ${entry.text}, ${entry.games.toLocaleString()} games${entry.ends && ` (${entry.ends})`}`;
    const showMore = () => games.replaceChildren(el("p", {}, title));
    return shade(el("td", { class: "cell" }, el("button", { type: "button", class: "link", title, onclick: showMore }, `${Math.round(100 * entry.share)}%`)), entry.share, 0);
  }

  // From orange over white to blue, with par in the middle.
  function shade(td, share, par) {
    const high = share >= par;
    td.style.setProperty("--depth", `${Math.round(55 * (high ? (share - par) / (1 - par) : (par - share) / par))}%`);
    td.classList.add(high ? "above" : "below");
    return td;
  }

  const meaning = (found) =>
    found.free_for_all
      ? "Free-for-all. The row's share of the wins of row and column, in games of both; par is 50%."
      : `Win share of the row's agent among copies of the column's; par is ${Math.round(100 * found.par)}%. A click on a cell shows its games.`;

  function cell(name, found, one, other) {
    const entry = found.cells[one]?.[other];
    if (!entry) return el("td", {}, "");
    const words = `${Math.round(100 * entry.share)}%`;
    const title = `${one} against ${other}: ${entry.text}, ${entry.deals} deals`;
    const inside = found.free_for_all ? el("span", { title }, words) : el("button", { type: "button", class: "link", title, onclick: () => behind(name, one, other) }, words);
    return shade(el("td", { class: "cell" }, inside), entry.share, found.par);
  }

  async function behind(name, one, other) {
    try {
      const found = await call(`games?${new URLSearchParams({ name, one, other })}`, { signal: away.signal });
      const again_ = found.offered ? "A click plays the game again on its deal, by the same agents; their choices follow from its seed." : "To play these games again, start the server with both agents after --agents.";
      const cut = found.games.length > MOST_GAMES ? `The first ${MOST_GAMES} of ${found.games.length.toLocaleString()} games. ` : "";
      const list = found.games.slice(0, MOST_GAMES).map((game) =>
        el("li", {}, el("button", { type: "button", class: "link", disabled: !found.offered, onclick: () => again({ name, one, other, deal: game.deal, seat: game.seat }) }, `deal ${game.deal}, seat ${game.seat}: ${result(game.share)}`)),
      );
      games.replaceChildren(el("h2", {}, `${one} against ${other}`), el("p", { class: "faint" }, `Seats and results are those of ${one}. ${cut}${again_}`), el("ol", { class: "games plain" }, ...list));
      games.scrollIntoView({ block: "nearest" });
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
    }
  }

  const result = (share) => (share === 1 ? "won" : share === 0 ? "lost" : `${Math.round(100 * share)}% of a win`);

  async function again(body) {
    try {
      open(await call("again", { body }), `deal ${body.deal}`);
    } catch (error) {
      tell(error.message);
    }
  }

  async function watch() {
    while (!away.signal.aborted) {
      try {
        const found = await call("runs", { signal: away.signal });
        runs.replaceChildren(
          ...found.runs.map((run) => {
            const names = Object.keys(run.curves);
            const about = run.error || `${run.variant.split(" ").slice(0, 2).join(" ")}, ${run.steps.toLocaleString()} decisions learned from`;
            const series = names.map((label, i) => ({ label, points: run.curves[label], style: `s${i % 4}` }));
            return el("figure", {}, el("figcaption", {}, el("strong", {}, run.name), el("br"), about), names.length ? lines(series, { x: "decisions learned from", label: `Win shares of ${run.name} while it learned` }) : el("p", { class: "faint" }, "no point of a curve yet"));
          }),
        );
        if (!found.runs.length) runs.replaceChildren(el("p", {}, "Name folders of runs when the server is started (--folders runs/first); their curves are shown here as they grow."));
      } catch (error) {
        if (error.name === "AbortError") return;
      }
      await new Promise((resolve) => setTimeout(resolve, REFRESH));
    }
  }
  return () => away.abort();
}
