// Curves from 0 to 100 %.

import { el } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [340, 170, 34, 16, 8, 8];

export function svgElement(name, attributes, parent, words) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (words) element.textContent = words;
  parent?.append(element);
  return element;
}

// series: {label, points: [[x, share]], style, marks: [[x, share, words]]}; a click calls `pick` with the x below it.
export function lines(series, { label, pick, most, now, x: name }) {
  const xs = series.flatMap((one) => one.points.map(([x]) => x));
  const last = most ?? Math.max(1, ...xs);
  const x = (value) => LEFT + ((WIDTH - LEFT - RIGHT) * value) / last;
  const y = (share) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - share);
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label });
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svgElement("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(share), y2: y(share), class: "zero" }, svg);
    svgElement("text", { x: LEFT - 4, y: y(share) + 3.5, class: "tick" }, svg, `${100 * share}%`);
  }
  svgElement("text", { x: LEFT, y: HEIGHT - 4, class: "tick first" }, svg, "0");
  svgElement("text", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, class: "tick name" }, svg, name);
  svgElement("text", { x: WIDTH - RIGHT, y: HEIGHT - 4, class: "tick" }, svg, last.toLocaleString());
  if (now !== undefined) svgElement("line", { x1: x(now), x2: x(now), y1: TOP, y2: HEIGHT - BOTTOM, class: "now" }, svg);
  for (const one of series) {
    const points = [...one.points].sort((a, b) => a[0] - b[0]).map(([at, share]) => `${x(at).toFixed(1)},${y(share).toFixed(1)}`);
    svgElement("polyline", { points: points.join(" "), class: `curve ${one.style}` }, svg);
    if (one.points.length === 1) svgElement("circle", { cx: x(one.points[0][0]), cy: y(one.points[0][1]), r: 2.5, class: `dot ${one.style}` }, svg);
    for (const [at, share, words] of one.marks || []) {
      const mark = svgElement("circle", { cx: x(at), cy: y(share), r: 5, class: "blunder" }, svg);
      svgElement("title", {}, mark, words);
    }
  }
  if (pick)
    svg.addEventListener("click", (event) => {
      const at = svg.getBoundingClientRect();
      pick(Math.round(((((event.clientX - at.x) / at.width) * WIDTH - LEFT) / (WIDTH - LEFT - RIGHT)) * last));
    });
  const legend = el("ul", { class: "legend plain" }, ...series.map((one) => el("li", {}, el("span", { class: `swatch ${one.style}`, "aria-hidden": "true" }), one.label)));
  return el("div", { class: "chart" }, svg, legend);
}
