// Choosing a game and who plays, and opening records.

import { call, remember, remembered } from "./api.js";
import { el, tell } from "./dom.js";

const PERSON = "person";

const TITLE = document.title;

export function lobby(main) {
  document.title = TITLE;
  const form = el("form", { class: "card", onsubmit: start }, el("h1", {}, "New game"));
  const games = el("select", { id: "game", onchange: () => choose() });
  const number = el("select", { id: "players", onchange: () => seats() });
  const options = el("div", { class: "fields" });
  const places = el("div", { class: "fields", id: "seats" });
  const source = el("p", { class: "faint" });
  const begin = el("button", { class: "big", type: "submit" }, "Start the game");
  main.append(el("div", { class: "lobby" }, form, el("div", {}, recordCard(), recentCard())));
  let offers = null;
  call("offers").then(
    (found) => {
      offers = found;
      for (const game of offers.games) games.append(el("option", { value: game.name }, game.title));
      form.append(
        el("div", { class: "fields" }, field("Game", games), field("Players", number)),
        el("h2", {}, "Who plays"),
        places,
        el("details", {}, el("summary", {}, "Rules and options"), options),
        source,
        begin,
      );
      choose();
    },
    (error) => tell(error.message),
  );

  const game = () => offers.games.find((one) => one.name === games.value);
  function choose() {
    number.replaceChildren(...game().players.map((n) => el("option", { value: n }, String(n))));
    if (game().players.includes(2)) number.value = 2;
    options.replaceChildren(
      ...game().options.filter((option) => option.values.length > 1).map((option) => {
        const select = el("select", { id: `option-${option.name}`, "data-option": option.name, onchange: () => measure() });
        for (const value of option.values)
          select.append(el("option", { value, selected: value === option.default }, value.replaceAll("_", " ")));
        return field(option.name.replaceAll("_", " "), select, option.meaning);
      }),
    );
    seats();
  }
  function seats() {
    places.replaceChildren(
      ...Array.from({ length: Number(number.value) }, (_, seat) => {
        const select = el("select", { id: `seat-${seat}`, class: "seat" }, el("option", { value: PERSON }, "a person"));
        for (const agent of offers.agents) select.append(el("option", { value: agent }, agent));
        select.value = seat === 0 ? PERSON : opponent(offers.agents);
        select.addEventListener("change", name);
        return field(`Seat ${seat}`, select);
      }),
    );
    name();
    measure();
  }
  function name() {
    const people = [...places.querySelectorAll("select")].some((select) => select.value === PERSON);
    begin.textContent = people ? "Start the game" : "Watch the game";
  }
  function variant() {
    const words = [game().name, `players=${number.value}`];
    for (const select of options.querySelectorAll("select")) words.push(`${select.dataset.option}=${select.value}`);
    return words.join(" ");
  }
  // Names alone say little to a newcomer: what the leaderboard measured stands beside them.
  async function measure() {
    const asked = variant();
    for (const option of places.querySelectorAll("option")) if (option.value !== PERSON) option.textContent = option.value;
    try {
      const found = await call(`strengths?variant=${encodeURIComponent(asked)}`);
      if (asked !== variant()) return;
      const other = found.measured ? `, measured with ${found.measured}` : "";
      source.textContent = `Ratings are the leaderboard's (greedy is 0)${other}; times are of one decision there.`;
      for (const option of places.querySelectorAll("option")) {
        const known = found.agents[option.value];
        if (known) option.textContent = [option.value, known.rating, known.time].filter(Boolean).join(" · ");
      }
    } catch {
      // the names are enough
    }
  }
  async function start(event) {
    event.preventDefault();
    const players = [...places.querySelectorAll("select")].map((select) => select.value);
    try {
      open(await call("tables", { body: { variant: variant(), players } }), game().title);
    } catch (error) {
      tell(error.message);
    }
  }
}

export function open(made, title, replace = false) {
  const own = made.seats.findIndex((token) => token);
  const people = made.seats.filter((token) => token).length;
  // Links to other people's seats are shown at the table, not listed under "Your tables".
  if (own >= 0) remember({ token: made.seats[own], title: `${title}, seat ${own}`, at: Date.now(), guests: people > 1 ? made.seats : null });
  const fresh = made.players.every(Boolean); // agents begin now; a record has been played
  if (made.watch) remember({ token: made.watch, title: `${title}, watching`, at: Date.now(), fresh });
  const hash = `#/t/${own >= 0 ? made.seats[own] : made.watch}`;
  if (replace) location.replace(hash); // so that Back leads to what was before
  else location.hash = hash;
}

// Who sits on the other seats unless somebody else is chosen.
export const opponent = (agents) => (agents.includes("greedy") ? "greedy" : agents.at(-1));

export function opener(main) {
  document.title = "Open a record";
  main.append(el("div", { class: "lobby" }, recordCard(), recentCard()));
}

function recordCard() {
  const file = el("input", { type: "file", id: "file", accept: ".txt,text/plain", onchange: () => take(file.files[0]) });
  return el(
    "section",
    { class: "card" },
    el("h2", {}, "Open a game record"),
    el("p", {}, "Choose a file, or drop it anywhere on a page: replay it, and have it analysed."),
    el("label", { for: "file", class: "quiet" }, "Game record"),
    file,
  );
}

// Records may be dropped on every page; elsewhere the browser would leave the page to show the file.
export function acceptDrops() {
  const over = (on) => document.body.classList.toggle("over", on);
  document.addEventListener("dragover", (event) => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    over(true);
  });
  document.addEventListener("dragleave", (event) => event.relatedTarget || over(false));
  document.addEventListener("drop", (event) => {
    over(false);
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
}

async function take(chosen) {
  if (!chosen) return;
  if (chosen.size > 2 ** 20) return tell(`${chosen.name}: a game record has at most 1 MB`);
  try {
    open(await call("records", { text: await chosen.text() }), chosen.name);
  } catch (error) {
    tell(`${chosen.name}: ${error.message}`);
  }
  return undefined;
}

function recentCard() {
  const tables = remembered();
  if (!tables.length) return null;
  const items = tables.slice(0, 10).map((one) => {
    const when = new Date(one.at).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
    return el("li", {}, el("a", { href: `#/t/${one.token}` }, one.title), el("span", { class: "faint" }, when));
  });
  return el("section", { class: "card" }, el("h2", {}, "Your tables"), el("ul", { class: "plain recent" }, ...items));
}

export function field(label, control, help) {
  const name = el("label", { for: control.id }, label);
  return el("div", { class: "field" }, name, control, help ? el("p", { class: "faint" }, help) : null);
}
