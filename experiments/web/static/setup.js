// A position set up by hand: what can be set comes from the server, and so does the reason why it is impossible.

import { call } from "./api.js";
import { copyText, el, tell } from "./dom.js";
import { open, opponent } from "./lobby.js";
import { draw } from "./picture.js";

export function setup(main, word) {
  let shown = null; // the newest from the server, with what has been set since
  let asked = 0; // requests so far: only the answer to the last one counts
  let open_ = new Set(); // groups that are unfolded
  const box = el("div", { class: "board", id: "board" });
  const problem = el("p", { class: "status", id: "problem", role: "status" });
  const moments = el("p", { class: "faint", id: "moments" });
  const picked = el("div", { class: "choices", id: "picked" });
  const groups = el("div", { id: "groups" });
  const places = el("div", { class: "fields", id: "seats" });
  const go = el("button", { class: "big", type: "button", id: "play", onclick: () => start(true) }, "Play from here");
  const look = el("button", { type: "button", id: "look", onclick: () => start(false) }, "Analyse");
  const games = el("select", { id: "variant", "aria-label": "Game", onchange: () => load({ variant: games.value }) });
  const side = el(
    "aside",
    { class: "side", "aria-label": "The position" },
    el("div", { class: "tools" }, games),
    problem,
    moments,
    picked,
    groups,
    el("h2", {}, "Who plays"),
    places,
    el("div", { class: "tools" }, go, look, el("button", { type: "button", onclick: copy }, "Copy link")),
  );
  main.append(el("h1", { class: "hidden" }, "Set up a position"), el("div", { class: "table" }, el("div", { class: "stage" }, box), side));
  document.title = "Set up a position";
  let agents = [];

  call("offers").then(
    (offers) => {
      agents = offers.agents;
      for (const game of offers.games.filter((one) => offers.editable.includes(one.name)))
        for (const players of game.players) {
          const value = `${game.name} players=${players}`;
          games.append(el("option", { value, "data-players": players }, `${game.title}, ${players} ${players === 1 ? "player" : "players"}`));
        }
      if (!word) games.value = [...games.options].find((one) => one.dataset.players === "2")?.value ?? games.value;
      load(word ? { position: word } : { variant: games.value });
    },
    (error) => tell(error.message),
  );

  async function load(body) {
    const number = ++asked;
    try {
      const found = await call("edit", { body });
      if (number !== asked) return;
      const fresh = shown === null || found.variant !== shown.variant;
      shown = found;
      games.value = found.variant.split(" ").slice(0, 2).join(" ");
      if (fresh) seats();
      show();
    } catch (error) {
      tell(error.message);
      if (!shown && body.position) await load({ variant: games.value }); // a link that was cut off
    }
  }

  function set(name, value) {
    if (!shown.variant.startsWith(games.value)) return; // another game is on its way
    shown.values = { ...shown.values, [name]: value };
    load({ variant: shown.variant, values: shown.values });
  }

  function seats() {
    picked.replaceChildren();
    places.replaceChildren(
      ...Array.from({ length: shown.players }, (_, seat) => {
        const select = el("select", { id: `seat-${seat}` }, el("option", { value: "person" }, "a person"), ...agents.map((one) => el("option", { value: one }, one)));
        select.value = seat === 0 ? "person" : opponent(agents);
        return el("div", { class: "field" }, el("label", { for: select.id }, `Seat ${seat}`), select);
      }),
    );
  }

  function show() {
    const byTarget = new Map();
    for (const entry of shown.entries) if (entry.target) byTarget.set(entry.target, [...(byTarget.get(entry.target) || []), entry]);
    const legal = [...byTarget].map(([target, entries]) => ({ id: target, label: `set ${entries.map((one) => one.label).join(", ")}`, targets: [target] }));
    draw(box, { ...shown, legal }, (actions) => pick(actions[0].id), false);
    for (const one of box.querySelectorAll(".halo")) one.remove();
    for (const one of box.querySelectorAll(".legal")) one.classList.replace("legal", "editable");
    problem.textContent = shown.problem || "This position can be played.";
    moments.textContent = `Click a place on the picture, or open a group below. ${shown.moments}`;
    problem.classList.toggle("bad", Boolean(shown.problem));
    go.disabled = look.disabled = Boolean(shown.problem);
    list();
    const again = picked.dataset.target;
    if (again) pick(again, false);
  }

  function control(entry, prefix) {
    const select = el("select", { id: `${prefix}-${entry.name}`, "data-entry": entry.name, onchange: () => set(entry.name, select.value) });
    for (const value of entry.values) select.append(el("option", { value }, value));
    select.value = shown.values[entry.name] ?? entry.values[0];
    return el("div", { class: "field" }, el("label", { for: select.id }, entry.label), select);
  }

  function pick(target, focus = true) {
    const entries = shown.entries.filter((one) => one.target === target);
    picked.dataset.target = entries.length ? target : "";
    picked.replaceChildren(...entries.map((entry) => control(entry, "here")));
    if (focus) picked.querySelector("select")?.focus();
  }

  function list() {
    const names = [...new Set(shown.entries.map((one) => one.group))];
    const focused = document.activeElement?.id;
    groups.replaceChildren(
      ...names.map((name) => {
        const entries = shown.entries.filter((one) => one.group === name);
        const group = el("details", { "data-group": name, open: open_.has(name) }, el("summary", {}, name));
        const fields = el("div", { class: "fields small" });
        const fill = () => fields.childElementCount || fields.append(...entries.map((entry) => control(entry, "all")));
        if (open_.has(name)) fill();
        group.addEventListener("toggle", () => {
          if (group.open) fill();
          if (group.open) open_.add(name);
          else open_.delete(name);
        });
        group.append(fields);
        return group;
      }),
    );
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  }

  async function start(playing) {
    const body = { variant: shown.variant, values: shown.values };
    if (playing) body.players = [...places.querySelectorAll("select")].map((select) => select.value);
    try {
      open(await call("positions", { body }), shown.title);
    } catch (error) {
      tell(error.message);
    }
  }

  async function copy() {
    try {
      const made = await call("positions", { body: { variant: shown.variant, values: shown.values } });
      const found = await call("position", { token: made.watch });
      copyText(`${location.origin}/#/p/${found.position}`);
    } catch (error) {
      tell(error.message);
    }
  }
}

// A link to a position: opens it for analysis.
export async function position(main, word) {
  try {
    open(await call("positions", { body: { position: word } }), "Position", true);
  } catch (error) {
    main.replaceChildren(el("section", { class: "card" }, el("h1", {}, "No position here"), el("p", {}, error.message), el("a", { href: "#/" }, "Start a new game")));
  }
}
