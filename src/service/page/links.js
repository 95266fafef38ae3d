/**
 * Links of chains, drawn over the board: a solid line to a candidate that follows, a dashed one to
 * a candidate that is excluded. And as a list, because those of long chains would hide the board.
 */

import { byId, make, plural } from "./dom.js";
import { indexOf } from "./grid.js";
import { named } from "./page.js";

/** @typedef {import("./grid.js").Shape} Shape */
/** @typedef {import("./hint.js").Step} Step */

const SVG = "http://www.w3.org/2000/svg";

/** More links than these would hide the board. */
const MOST_LINKS = 60;

/** How far a line bends aside, so that links there and back lie apart; of its length. */
const BEND = 0.12;

const grid = byId("board", HTMLElement);

/** Takes the links away. */
export function clearLinks() {
  grid.querySelector(".links")?.remove();
}

/**
 * Lists the chains of a step, link by link; hides the list of a step without.
 * @param {HTMLElement} list
 * @param {Step} step
 * @param {readonly string[]} symbols
 */
export function listLinks(list, { chains = [] }, symbols) {
  const links = chains.reduce((sum, { implications = [] }) => sum + implications.length, 0);
  list.hidden = links === 0;
  /** @param {import("./hint.js").WireImplication} link */
  const wordsOf = ({ cell, digit, isOn, parents = [], reason }) => {
    const what = `(${cell.row}, ${cell.column}) ${isOn ? "is" : "is not"} ${symbols[digit - 1]}`;
    const by = parents.length ? `by ${parents.map((parent) => parent + 1).join(", ")}` : "assumed";
    return named(`${what}: ${reason ? `${reason}, ` : ""}${by}`);
  };
  const items = chains.map(({ implications = [] }, at) => {
    const label = `Chain ${at + 1}`;
    const links = implications.map((link) => make("li", {}, wordsOf(link)));
    return make("ol", { tabindex: "0", "aria-label": label }, ...links);
  });
  const title = `${plural(chains.length, "chain")} of ${plural(links, "statement")}`;
  list.replaceChildren(make("summary", {}, title), ...items);
}

/**
 * Where a candidate stands, in cells.
 * @param {Shape} shape
 * @param {{cell?: {row: number, column: number}, digit?: number}} at
 * @returns {[number, number] | null}
 */
function placeOf(shape, { cell, digit = 0 }) {
  const index = indexOf(shape, cell);
  if (index < 0 || digit < 1 || digit > shape.side) return null;
  const { side, order } = shape;
  const x = (index % side) + (((digit - 1) % order) + 0.5) / order;
  const y = Math.floor(index / side) + (Math.floor((digit - 1) / order) + 0.5) / order;
  return [x, y];
}

/**
 * Draws the links of a step, if it has chains.
 * @param {Shape} shape
 * @param {Step} step
 */
export function drawLinks(shape, { chains = [] }) {
  clearLinks();
  const paths = [];
  for (const { implications = [] } of chains) {
    for (const to of implications) {
      for (const parent of to.parents ?? []) {
        const from = implications[parent];
        const [start, end] = [from && placeOf(shape, from), placeOf(shape, to)];
        if (!start || !end) continue;
        const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
        const middle = [start[0] + dx / 2 - dy * BEND, start[1] + dy / 2 + dx * BEND];
        const path = document.createElementNS(SVG, "path");
        path.setAttribute("d", `M${start} Q${middle} ${end}`);
        if (!to.isOn) path.setAttribute("class", "weak");
        paths.push(path);
      }
    }
  }
  if (!paths.length || paths.length > MOST_LINKS) return;
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "links");
  svg.setAttribute("viewBox", `0 0 ${shape.side} ${shape.side}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  svg.append(...paths);
  grid.append(svg);
}
