/**
 * Studying a puzzle: how hard it is for a person, and its solution by hand, step by step.
 */

import { call } from "./api.js";
import { KIND } from "./board.js";
import { button, byId, count, make, plural } from "./dom.js";
import { candidatesOf, indexOf, textOf } from "./grid.js";
import { colorsOf, sentenceOf } from "./hint.js";
import { clearLinks, drawLinks, listLinks } from "./links.js";
import * as page from "./page.js";
import { ownFormat } from "./solution.js";
import { run } from "./task.js";
import { techniques } from "./techniques.js";

/** @typedef {import("./history.js").Position} Position */
/** @typedef {import("./hint.js").Step} Step */

/**
 * A step, and the board before it.
 * @typedef {object} Walked
 * @property {Step} step
 * @property {Uint8Array} before
 * @property {Uint32Array} candidates
 */

/**
 * A rating on the wire.
 * @typedef {object} Rating
 * @property {string} [verdict]
 * @property {{message: string}} [error]
 * @property {number} [erTenths]
 * @property {number} [epTenths]
 * @property {number} [edTenths]
 * @property {number} [clues]
 * @property {boolean} [isMinimal]
 * @property {{name: string, count: number}[]} [techniques]
 * @property {{nodes?: string, guesses?: string}} [search]
 * @property {string} [message]
 */

const rating = byId("rating", HTMLElement);
const about = byId("about", HTMLElement);
const aboutList = byId("about-list", HTMLElement);
const list = byId("steps", HTMLOListElement);
const chains = byId("step-chains", HTMLElement);
const text = byId("steps-text", HTMLElement);
const stop = button("stop-steps");

/** The clues of the puzzle whose steps or rating are shown. @type {Uint8Array | null} */
let studied = null;

/** What names the cells of the steps again. @type {(() => void)[]} */
const renames = [];

/** Ends the calls, once the puzzle is another one or somebody says so. */
let walks = new AbortController();

/** @param {number | undefined} tenths */
function score(tenths) {
  return tenths ? (tenths / 10).toFixed(1) : "none";
}

/**
 * The difficulty of a rating, as puzzles are made by it: the first class that is hard enough.
 * @param {number} tenths
 */
function wordFor(tenths) {
  const classes = [...byId("create-difficulty", HTMLSelectElement).options];
  const found = classes.find(({ dataset }) => tenths <= Number(dataset.most));
  return found?.value.split("_")[1].toLowerCase() ?? "";
}

async function rate() {
  const position = page.position();
  const { signal } = walks;
  studied = position.clues;
  const { shape, clues } = position;
  rating.hidden = about.hidden = true;
  const request = { options: ownFormat(shape), puzzle: textOf(clues) };
  const { ratings } = await call("Rate", request, { signal });
  const facts = factsOf(ratings[0], shape.cells);
  rating.replaceChildren(...facts.flatMap(([name, fact]) => [make("dt", {}, name), make("dd", {}, fact)]));
  const taken = new Set(ratings[0].techniques?.map((/** @type {{name: string}} */ { name }) => name));
  const explained = (await techniques()).filter(({ name }) => taken.has(name));
  about.hidden = explained.length === 0;
  aboutList.replaceChildren(
    ...explained.flatMap(({ title, about }) => [make("dt", {}, title), make("dd", {}, about)]),
  );
  rating.hidden = false;
}

/**
 * @param {Rating} found
 * @param {number} cells
 * @returns {[string, string][]}
 */
function factsOf(found, cells) {
  /** @type {[string, string][]} */
  const facts = [];
  const needed = { true: ", each of them needed", false: ", not all of them needed" };
  const minimal = found.isMinimal === undefined || !found.clues ? "" : needed[`${found.isMinimal}`];
  facts.push(["Clues", `${count(found.clues ?? 0)} of ${plural(cells, "cell")}${minimal}`]);
  facts.push(["Solution", found.error ? found.error.message : "exactly one"]);
  if (found.error) return facts;
  const taken = (found.techniques ?? []).map(({ name, count: times }) => `${name.replaceAll("-", " ")} ×${times}`);
  const er = found.erTenths ?? 0;
  if (found.verdict === "VERDICT_RATED" && !er) {
    facts.unshift(["Rating", "nothing to fill in"]);
  } else if (found.verdict === "VERDICT_RATED") {
    const hardest = (found.message ?? "").split(" ").slice(1).join(" ");
    facts.unshift(
      ["Rating", `${score(er)}, ${wordFor(er)}`],
      ["Hardest step", hardest],
      ["To begin with", `${score(found.epTenths)} to the first digit, ${score(found.edTenths)} for the first step`],
    );
  } else {
    const nodes = Number(found.search?.nodes ?? 0);
    const guesses = Number(found.search?.guesses ?? 0);
    const cost = `${plural(nodes, "node")} and ${plural(guesses, "guess")}`;
    facts.unshift(["Rating", `beyond: a search takes ${cost}`]);
  }
  facts.push(["Techniques", taken.join(", ") || "none"]);
  return facts;
}

async function listSteps() {
  const position = page.position();
  const { signal } = walks;
  const { shape, clues } = position;
  studied = clues;
  list.replaceChildren();
  renames.length = 0;
  list.hidden = false;
  text.textContent = "";
  stop.hidden = false;
  try {
    const request = { options: ownFormat(shape), puzzle: textOf(clues) };
    const found = await call("Steps", request, { signal });
    /** @type {Step[]} */
    const steps = found.steps ?? [];
    let before = clues.slice();
    let candidates = new Uint32Array(shape.cells);
    for (const [place, step] of steps.entries()) {
      list.append(entryOf({ step, before, candidates }, place + 1, position));
      before = before.slice();
      for (const { cell, digit } of step.placements ?? []) {
        const index = indexOf(shape, cell);
        if (index >= 0) before[index] = digit;
      }
      candidates = marksOf(step.candidatesAfter ?? "", position);
    }
    const all = plural(steps.length, "step");
    if (found.isSolved) text.textContent = `${all} to the solution`;
    else text.textContent = steps.length ? `${all}. ${found.message}` : (found.message ?? "");
  } finally {
    stop.hidden = true;
    list.hidden = list.children.length === 0;
  }
}

/**
 * Pencil marks of the server as bits of a cell.
 * @param {string} marks
 * @param {Position} position
 */
function marksOf(marks, { shape: { side, cells } }) {
  const bits = new Uint32Array(cells);
  for (let at = 0; at < marks.length; at++) {
    if (marks[at] !== ".") bits[Math.floor(at / side)] |= 1 << (at % side);
  }
  return bits;
}

/**
 * @param {Walked} walked
 * @param {number} number
 * @param {Position} position
 */
function entryOf(walked, number, position) {
  const sentence = sentenceOf(walked, position);
  const tabindex = number === 1 ? "0" : "-1";
  const words = make("span", {}, sentence);
  const entry = make("button", { tabindex }, make("span", {}, String(number)), words);
  renames.push(() => (words.textContent = sentenceOf(walked, position)));
  entry.addEventListener("click", () => {
    for (const other of list.querySelectorAll("[aria-current]")) other.removeAttribute("aria-current");
    entry.setAttribute("aria-current", "step");
    showStep(walked, number, position);
  });
  return make("li", {}, entry);
}

/** Moves the focus from step to step; the list is a single tab stop. @param {KeyboardEvent} event */
function moveInList(event) {
  const entries = [...list.querySelectorAll("button")];
  const at = entries.findIndex((entry) => entry === document.activeElement);
  const moves = /** @type {Record<string, number>} */ ({
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    Home: 0,
    End: entries.length - 1,
  });
  if (at < 0 || !(event.key in moves)) return;
  entries[moves[event.key]]?.focus();
  event.preventDefault();
}

/** Makes the step that has the focus the one that a tab leads to. @param {FocusEvent} event */
function markTabStop({ target }) {
  for (const entry of list.querySelectorAll("button")) entry.tabIndex = entry === target ? 0 : -1;
}

/**
 * Shows the board at a step, before its digits are put in or its candidates go.
 * @param {Walked} walked
 * @param {number} number
 * @param {Position} position
 */
function showStep({ step, before, candidates }, number, position) {
  const { shape, symbols, clues } = position;
  const kinds = before.map((value, cell) => (clues[cell] ? KIND.CLUE : value ? KIND.STEP : KIND.BLANK));
  const { marks, colored, gone } = colorsOf(step, position);
  const hasMarks = Boolean(step.eliminations?.length);
  const all = candidates.some(Boolean) ? candidates : candidatesOf(shape, before);
  const shown = all.map((bits, cell) => (hasMarks && !before[cell] ? bits : 0));
  const cell = indexOf(shape, (step.placements?.[0] ?? step.eliminations?.[0])?.cell);
  page.showScene(
    { shape, symbols, values: before, kinds, marks, candidates: shown, colored, gone, isFixed: true, isQuiet: true },
    { text: `Step ${number}: ${sentenceOf({ step }, position)}`, kind: "step", ended: endLinks },
  );
  drawLinks(shape, step);
  listLinks(chains, step, symbols);
  if (cell >= 0) {
    page.board.select(cell);
    page.board.reveal();
  }
}

function endLinks() {
  clearLinks();
  chains.hidden = true;
}

function endWalks() {
  walks.abort();
  walks = new AbortController();
}

function clear() {
  if (!studied || studied === page.position().clues) return;
  endWalks();
  studied = null;
  rating.hidden = about.hidden = true;
  list.hidden = true;
  text.textContent = "";
}

/** Wires the controls. */
export function start() {
  const options = { fail: page.fail, outlivesBoard: true };
  button("rate").addEventListener("click", () => run(button("rate"), rate, options));
  button("list-steps").addEventListener("click", () => run(button("list-steps"), listSteps, options));
  stop.addEventListener("click", endWalks);
  list.addEventListener("keydown", moveInList);
  list.addEventListener("focusin", markTabStop);
  page.onChange(clear);
  page.onNames(() => renames.forEach((rename) => rename()));
  page.onDraw(() => {
    if (!page.hasScene()) list.querySelector("[aria-current]")?.removeAttribute("aria-current");
  });
}
