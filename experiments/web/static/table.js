// A table: a seat that plays, or a game that is watched, replayed and analysed.

import { analysis } from "./analysis.js";
import { call, remember, remembered } from "./api.js";
import { copyText, download, el, say, tell } from "./dom.js";
import { opponent } from "./lobby.js";
import { addLine, addShares, draw, step } from "./picture.js";

const SPEEDS = [0.25, 0.5, 1, 2, 4];

export function table(main, token) {
  const away = new AbortController();
  let view = null; // the newest from the server
  let shown = null; // what is on the screen; an older one while a game is replayed
  let playing = false;
  let timer = null;
  let watched = false; // a game of agents that is new here: it is played at the speed chosen, however fast they are
  let follow = true; // whether the end of a game that goes on is shown
  let busy = false;

  const box = el("div", { class: "board", id: "board" });
  const status = el("p", { class: "status", id: "status" });
  const choices = el("div", { class: "choices", id: "choices" });
  const moves = el("ol", { class: "moves", id: "moves", tabindex: "0", "aria-label": "Moves" });
  const slider = el("input", { type: "range", id: "ply", min: 0, value: 0, "aria-label": "Decision", oninput: () => jump(Number(slider.value)) });
  const speed = el("select", { id: "speed", "aria-label": "Moves a second", onchange: next }, ...SPEEDS.map((n) => el("option", { value: n, selected: n === 1 }, `${n} a second`)));
  const run = el("button", { type: "button", id: "run", onclick: () => runOn(!playing) }, "Play");
  const replay = el(
    "div",
    { class: "replay", hidden: true },
    button("|◀", "First position", () => jump(0)),
    button("◀", "Back (left arrow)", () => jump(before(shown.ply))),
    run,
    button("▶", "Forward (right arrow)", () => jump(after(shown.ply))),
    button("▶|", "Last position", () => jump(Infinity)),
    slider,
    speed,
  );
  const tools = el("div", { id: "tools" });
  const judge = el("div", { class: "judge" });
  const tablets = el("div", { class: "seats", id: "seats" });
  const large = button("Zoom", "Larger picture", zoom, { "aria-pressed": "false" });
  const side = el("aside", { class: "side", "aria-label": "The game" }, status, choices, tablets, tools, el("h2", {}, "Moves"), moves, judge);
  main.append(el("h1", { class: "hidden" }, "Table"), el("div", { class: "table" }, el("div", { class: "stage" }, box, replay), side));
  let analyser = null;

  function button(words, label, onclick, attributes = {}) {
    return el("button", { type: "button", title: label, "aria-label": label, onclick, ...attributes }, words);
  }

  // --- News from the server ---

  async function listen() {
    let since = null;
    let wait = 500;
    let failed = false;
    while (!away.signal.aborted) {
      try {
        const news = await call(since === null ? "view" : `view?since=${since}`, { token, signal: away.signal });
        if (news) {
          since = news.version;
          take(news);
        }
        if (failed && shown) show(shown); // what the error stands in the place of
        failed = false;
        wait = 500;
      } catch (error) {
        if (error.name === "AbortError") return;
        if (error.status === 403) return refuse(error.message);
        status.textContent = `${error.message}; trying again`;
        failed = true;
        await new Promise((resolve) => setTimeout(resolve, wait));
        wait = Math.min(2 * wait, 8000);
      }
    }
  }

  function refuse(reason) {
    main.replaceChildren(el("section", { class: "card" }, el("h1", {}, "No table here"), el("p", {}, reason), el("a", { href: "#/" }, "Start a new game")));
  }

  function take(news) {
    const first = view === null;
    if (view && news.version <= view.version) return; // a click's answer has told it already
    view = news;
    if (first) {
      document.title = `${view.title}: table`;
      main.querySelector("h1").textContent = view.title;
      const { guests, fresh } = remembered().find((one) => one.token === token) ?? {};
      watched = view.viewer === null && view.players.every(Boolean) && (fresh || !view.over);
      remember({ token, title: `${view.title}: ${company()}`, at: Date.now(), guests });
      if (guests) invite(guests);
      if (isReplay() && view.over) follow = false;
    }
    listMoves();
    if (isReplay()) {
      replay.hidden = false;
      slider.max = view.count;
      if (watched && first) go(0).then(() => runOn(true));
      else if (first && view.over) go(0);
      else if ((follow && !playing) || !shown) show(view);
      else drawTools();
    } else {
      show(view);
    }
  }

  // Who sits here, so that tables can be told apart: `seat 0 with greedy`, `greedy, random`.
  function company() {
    const all = view.players.map((player, seat) => (seat === view.viewer ? "" : player === "person" ? "people" : player || view.tags[`player${seat}`]));
    const others = [...new Set(all.filter(Boolean))].join(", ");
    if (view.viewer === null) return others || (view.count ? "a game" : "a position");
    return `seat ${view.viewer}${others ? ` with ${others}` : ""}`;
  }

  function invite(guests) {
    const links = guests.map((guest, seat) => {
      if (!guest || guest === token) return null;
      const link = `${location.origin}/#/t/${guest}`;
      const input = el("input", { type: "text", readonly: true, value: link, id: `link-${seat}`, onfocus: () => input.select() });
      return el("div", { class: "field" }, el("label", { for: input.id }, `Seat ${seat}`), input, button("Copy", `Copy the link of seat ${seat}`, () => copyText(link)));
    });
    const words = el("p", { class: "faint" }, "Whoever has a link plays that seat and sees its hand; send it to one person.");
    tablets.after(el("details", { class: "invite", open: view.count === 0 }, el("summary", {}, "Links for the other seats"), words, ...links.filter(Boolean)));
  }

  // Twice as large, with the middle of the first panel in the middle.
  function zoom() {
    const on = box.classList.toggle("large");
    large.setAttribute("aria-pressed", String(on));
    const [panel] = Object.values(shown.panels);
    const whole = box.querySelector(".picture").viewBox.baseVal;
    box.scrollLeft = ((panel.x + panel.width / 2 - whole.x) / whole.width) * box.scrollWidth - box.clientWidth / 2;
    box.scrollTop = (box.scrollHeight - box.clientHeight) / 2;
  }

  async function rules() {
    const window = el("dialog", { class: "rules", "aria-label": "Rules" });
    try {
      const found = await call(`rules?game=${encodeURIComponent(view.variant.split(" ")[0])}`);
      const parsed = new DOMParser().parseFromString(found.html, "text/html");
      window.append(button("Close", "Close the rules", () => window.close()), el("h2", {}, "Rules"), ...parsed.body.children);
      window.addEventListener("close", () => window.remove());
      document.body.append(window);
      window.showModal();
    } catch (error) {
      tell(error.message);
    }
  }

  const isReplay = () => view.viewer === null || view.over;

  // --- What is shown ---

  function show(one) {
    shown = one;
    const live = one.ply === view.count;
    draw(box, live ? one : { ...one, legal: [] }, one.mine ? pick : null, one.mine);
    status.className = one.mine ? "status mine" : "status";
    status.textContent = (one.mine ? "Your turn. " : "") + one.caption + (one.error ? ` — ${one.error}` : "");
    if (one.mine || one.over) say(status.textContent);
    slider.value = one.ply;
    slider.setAttribute("aria-valuetext", `${one.ply} of ${one.count}: ${one.caption}`);
    offer(one);
    drawSeats(one);
    drawTools();
    analyser?.moved(one.ply);
    for (const item of moves.children) item.classList.toggle("here", Number(item.dataset.ply) === one.ply);
    scrollMoves();
  }

  // The list shows the move before the position; the page itself stays.
  function scrollMoves() {
    const here = moves.querySelector(".here");
    if (here) moves.scrollTop = here.offsetTop - moves.offsetTop - moves.clientHeight / 2;
    else moves.scrollTop = shown.ply && !isReplay() ? moves.scrollHeight : 0;
  }

  // What a return stands for: 0 is a loss where all win or lose together, otherwise everybody's share.
  const outcome = (value) => (value > 0 ? "won" : value < 0 || view.cooperative ? "lost" : "drew");

  function drawSeats(one) {
    tablets.replaceChildren(
      ...view.players.map((player, seat) => {
        const name = player === "person" ? (seat === view.viewer ? "you" : "a person") : player || view.tags[`player${seat}`] || "";
        const thinks = view.viewer !== null && !one.over && seat === one.seat && player !== "person";
        const result = one.returns ? ` · ${outcome(one.returns[seat])}` : thinks ? " · thinking" : "";
        const attributes = { class: seat === one.seat && !one.at_end ? `seat s${seat % 4} now` : `seat s${seat % 4}` };
        return el("span", attributes, `${seat} ${name}${result}`);
      }),
    );
  }

  function offer(one) {
    choices.replaceChildren();
    if (!one.mine) return;
    const apart = one.legal.filter((action) => !action.targets.length);
    const placed = one.legal.filter((action) => action.targets.length);
    const news = box.querySelector(".news") ? "Dashed: what has changed since your last decision." : "";
    const clicks = placed.length ? (apart.length ? "Click one of the marked places, or choose:" : "Click one of the marked places.") : "";
    if (news || clicks) choices.append(el("p", { class: "faint" }, [news, clicks].filter(Boolean).join(" ")));
    for (const action of apart) choices.append(actionButton(action));
    if (one.can_take_back) choices.append(button("Take back", "Take the half-made move back", takeBack, { class: "back" }));
    if (placed.length) {
      const list = el("details", {}, el("summary", {}, `As a list (${placed.length})`));
      for (const action of placed) list.append(actionButton(action));
      choices.append(list);
    }
  }

  function actionButton(action) {
    return el("button", { type: "button", class: "action", "data-action": action.id, onclick: () => play(action) }, action.label);
  }

  function pick(actions, target) {
    if (actions.length === 1) return play(actions[0]);
    for (const one of box.querySelectorAll(".legal")) one.classList.toggle("picked", one.dataset.target === target.dataset.target);
    const cancel = () => {
      for (const one of box.querySelectorAll(".picked")) one.classList.remove("picked");
      offer(shown);
      target.focus({ preventScroll: true });
    };
    choices.replaceChildren(el("p", {}, "Which one?"), ...actions.map(actionButton), button("Cancel", "Choose another place", cancel, { class: "back" }));
    choices.querySelector("button").focus();
    return undefined;
  }

  function listMoves() {
    const old = moves.children.length;
    // At the end of a game all moves are told, and lead to their positions.
    const fits = old && moves.dataset.replay === String(isReplay()) && view.moves.length >= old && moves.children[old - 1].dataset.text === view.moves[old - 1].text && moves.children[old - 1].dataset.ply === String(view.moves[old - 1].ply);
    if (!fits) moves.replaceChildren();
    moves.dataset.replay = isReplay();
    for (const move of view.moves.slice(moves.children.length)) {
      const words = move.text ? [el("span", { class: "text" }, move.text), " ", el("span", { class: "words" }, move.words)] : ["a move you do not see"];
      const line = isReplay()
        ? el("button", { type: "button", class: "link", onclick: () => jump(move.ply) }, ...words)
        : el("span", {}, ...words);
      const item = el("li", { class: `s${move.seat % 4}`, "data-ply": move.ply, "data-text": move.text }, el("span", { class: "who" }, String(move.seat)), line);
      moves.append(item);
    }
  }

  // --- Playing ---

  async function play(action) {
    if (busy) return;
    busy = true;
    try {
      take(await call("play", { token, body: { action: action.id, count: view.count } }));
    } catch (error) {
      tell(error.message);
    }
    busy = false;
  }

  async function takeBack() {
    try {
      take(await call("undo", { token, body: {} }));
    } catch (error) {
      tell(error.message);
    }
  }

  // What takes seconds shows that it goes on, on the button that began it.
  async function busily(pressed, words, work) {
    if (pressed.ariaBusy === "true") return;
    const before_ = pressed.textContent;
    pressed.ariaBusy = "true";
    pressed.textContent = words;
    say(words);
    try {
      await work();
    } catch (error) {
      tell(error.message);
    }
    pressed.ariaBusy = "false";
    pressed.textContent = before_;
  }

  async function hint() {
    const count = view.count;
    const found = await call("hint", { token, body: {} });
    if (view.count !== count) return;
    addShares(box, found.actions);
    const best = found.actions.filter((action) => action.share >= 0.05).slice(0, 3);
    const words = `Hint: ${best.map((action) => `${action.label} (${Math.round(100 * action.share)}%)`).join(", ")}`;
    document.getElementById("hint")?.remove();
    choices.prepend(el("p", { id: "hint" }, words));
    say(words);
  }

  // --- Replay ---

  const ends = () => [0, ...view.moves.map((move) => move.ply)];
  const before = (ply) => ends().findLast((end) => end < ply) ?? 0;
  const after = (ply) => ends().find((end) => end > ply) ?? view.count;
  let wanted = 0;
  async function go(ply) {
    ply = Math.min(Math.max(0, ply), view.count);
    follow = ply === view.count && !view.over;
    wanted = ply;
    if (ply === view.count && view.ply === ply) return show(view);
    try {
      const one = await call(`view?ply=${ply}`, { token, signal: away.signal });
      if (wanted === ply) show(one);
    } catch (error) {
      if (error.name !== "AbortError") tell(error.message);
    }
    return undefined;
  }

  // What the buttons, the slider, the arrow keys and the list of moves do: whoever steps wants to look.
  function jump(ply) {
    runOn(false);
    return go(ply);
  }

  function runOn(on) {
    if (on === playing) return;
    playing = on;
    clearTimeout(timer);
    run.textContent = playing ? "Pause" : "Play";
    follow = false;
    if (!playing) return;
    if (shown.ply === view.count && view.over) go(0).then(next);
    else next();
  }

  function next() {
    clearTimeout(timer);
    if (playing) timer = setTimeout(tick, 1000 / Number(speed.value));
  }

  async function tick() {
    if (!playing || away.signal.aborted) return undefined;
    if (shown.ply < view.count) await go(after(shown.ply));
    if (shown.ply === view.count && view.over) return runOn(false);
    return next();
  }

  // --- Tools ---

  function drawTools() {
    const items = [];
    const saved = [button("PNG", "Save this picture as PNG", () => save("png")), button("SVG", "Save this picture as SVG", () => save("svg"))];
    const thinking = (event) => busily(event.currentTarget, "Thinking…", hint);
    const drawing = (form) => (event) => busily(event.currentTarget, "Drawing…", () => film(form));
    if (shown?.mine) items.push(button("Hint", "What an agent would do", thinking));
    items.push(button("Rules", "The rules on one page", rules), large);
    if (isReplay()) {
      items.push(button("Play from here", "Start a game from this position", branch));
      items.push(button("Edit", "Set up a position from this one", () => withPosition((word) => (location.hash = `#/set/${word}`))));
      items.push(button("Copy link", "Copy a link to this position", () => withPosition((word) => copyText(`${location.origin}/#/p/${word}`))));
      saved.push(button("GIF", "Save the whole game as a moving picture", drawing("gif")), button("Page", "Save the game as a page that can be mailed", drawing("html")));
      saved.push(button("Record", "Save the game record", record));
      if (!analyser) analyser = analysis(judge, token, () => ({ view, shown }), jump, (actions, line) => (addShares(box, actions), addLine(box, line, shown.panels)));
    }
    // Buttons stay while the same ones are wanted: one of them may be at work, or have the focus.
    const names = [...items, ...saved].map((one) => one.title).join();
    if (tools.dataset.names === names) return;
    tools.dataset.names = names;
    tools.replaceChildren(el("div", { class: "tools" }, ...items), el("div", { class: "tools" }, el("span", { class: "faint" }, "Save"), ...saved));
  }

  async function save(form) {
    try {
      download(`position-${shown.ply}.${form}`, await call(`picture?form=${form}&ply=${shown.ply}`, { token }));
    } catch (error) {
      tell(error.message);
    }
  }

  async function film(form) {
    download(`game.${form}`, await call(`film?form=${form}`, { token }));
  }

  async function record() {
    try {
      download("game.txt", await call("record", { token }));
    } catch (error) {
      tell(error.message);
    }
  }

  async function withPosition(use) {
    try {
      use((await call(`position?ply=${shown.ply}`, { token })).position);
    } catch (error) {
      tell(error.message);
    }
  }

  async function branch() {
    try {
      const other = opponent((await call("offers")).agents);
      const players = view.players.map((_, seat) => (seat === shown.seat ? "person" : other));
      const made = await call("branch", { token, body: { ply: shown.ply, players } });
      location.hash = `#/t/${made.seats.find((one) => one)}`;
    } catch (error) {
      tell(error.message);
    }
  }

  function keys(event) {
    if (event.target.closest("input, select, textarea, dialog") || event.altKey || event.ctrlKey || event.metaKey) return;
    if (!event.key.startsWith("Arrow")) return;
    if (shown?.mine && step(box, event.key)) event.preventDefault();
    else if (view && isReplay() && event.key === "ArrowLeft") jump(before(shown.ply));
    else if (view && isReplay() && event.key === "ArrowRight") jump(after(shown.ply));
  }
  document.addEventListener("keydown", keys);
  let width = 0;
  const watchWidth = () => {
    if (Math.abs(box.clientWidth - width) > 40 && shown) show(shown);
    width = box.clientWidth;
  };
  addEventListener("resize", watchWidth);
  const watchList = new ResizeObserver(() => shown && scrollMoves()); // what stands above it grows and shrinks
  watchList.observe(moves);
  listen();
  return () => {
    away.abort();
    clearTimeout(timer);
    analyser?.stop();
    document.removeEventListener("keydown", keys);
    removeEventListener("resize", watchWidth);
    watchList.disconnect();
  };
}
