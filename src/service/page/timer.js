/** The time that a person has spent on the puzzle: it stands still while the page is not seen. */

import { byId } from "./dom.js";
import { conflictsOf } from "./grid.js";
import { keep, kept } from "./kept.js";
import * as page from "./page.js";

const shown = byId("timer", HTMLElement);

/** The seconds spent, by the clues. @type {WeakMap<Uint8Array, number>} */
const spent = new WeakMap();

/** Whether the puzzle on the board is solved. */
function isSolved() {
  const { shape, values } = page.position();
  return values.every(Boolean) && !conflictsOf(shape, values).some(Boolean);
}

/** @param {number} seconds */
function inWords(seconds) {
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return `${hours ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`;
}

function draw() {
  const { clues, isPuzzle } = page.position();
  const isShown = isPuzzle && page.settings.timed;
  shown.textContent = isShown ? inWords(spent.get(clues) ?? 0) : "";
}

function tick() {
  const { clues, isPuzzle } = page.position();
  if (!isPuzzle || document.hidden || page.isHidden() || isSolved()) return;
  const seconds = (spent.get(clues) ?? 0) + 1;
  spent.set(clues, seconds);
  keep("seconds", String(seconds));
  draw();
}

/** Starts the clock, for the board that a reload brought back from where it was. */
export function start() {
  if (page.position().isPuzzle) spent.set(page.position().clues, Number(kept("seconds") ?? 0));
  setInterval(tick, 1_000);
  page.onDraw(draw);
  draw();
}
