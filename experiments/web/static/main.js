// Which page is shown: #/ the lobby, #/open a record, #/t/TOKEN a table, #/set[/POSITION] a position to be set up,
// #/p/POSITION a position to be analysed, #/results tournaments and training.

import { keep, kept } from "./dom.js";
import { acceptDrops, lobby, opener } from "./lobby.js";
import { progress } from "./progress.js";
import { position, setup } from "./setup.js";
import { table } from "./table.js";

const main = document.getElementById("main");
let leave = () => {};

function route() {
  leave();
  main.replaceChildren();
  const [, page, token] = location.hash.split("/");
  const pages = {
    t: () => (token ? table(main, token) : lobby(main)),
    open: () => opener(main),
    set: () => setup(main, token),
    p: () => void position(main, token || ""),
    results: () => progress(main),
  };
  leave = (pages[page] || (() => lobby(main)))() || (() => {});
  window.scrollTo(0, 0);
}

const theme = document.getElementById("theme");
function paint(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  theme.textContent = dark ? "Light" : "Dark";
  theme.setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
}
const system = matchMedia("(prefers-color-scheme: dark)");
const follow = () => {
  const chosen = kept("theme");
  paint(chosen ? chosen === "dark" : system.matches);
};
follow();
system.addEventListener("change", follow);
theme.addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme !== "dark";
  keep("theme", dark ? "dark" : "light");
  paint(dark);
});

document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address says which page is shown
  main.focus();
});

acceptDrops();
addEventListener("hashchange", route);
route();
