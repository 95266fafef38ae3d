/**
 * Hints in three stages: where to look, which technique, and the step with its cells coloured.
 *
 * A step is shown by what it consists of, house, cells and digits, so techniques that the server
 * learns later are shown without a change here.
 */

import { MARK } from "./board.js";
import { call } from "./api.js";
import { button, byId, make } from "./dom.js";
import { LETTERS, candidatesOf, cellsOfHouse, indexOf, nameOfHouse, textOf } from "./grid.js";
import { enter } from "./history.js";
import { clearLinks, drawLinks, listLinks } from "./links.js";
import * as page from "./page.js";
import { ownFormat } from "./solution.js";
import { run } from "./task.js";
import { techniques } from "./techniques.js";

/** @typedef {import("./history.js").Position} Position */
/** @typedef {import("./page.js").Decoration} Decoration */

/** A cell on the wire. @typedef {{row: number, column: number}} WireCell */

/** A digit in a cell on the wire. @typedef {{cell: WireCell, digit: number}} WirePlacement */

/** A house on the wire. @typedef {{kind: string, number: number}} WireHouse */

/**
 * A statement of a chain on the wire.
 * @typedef {object} WireImplication
 * @property {WireCell} cell
 * @property {number} digit
 * @property {boolean} [isOn]
 * @property {number[]} [parents]
 * @property {string} [reason]
 */

/**
 * A step on the wire.
 * @typedef {object} Step
 * @property {string} technique
 * @property {string} [name]
 * @property {number} [ratingTenths]
 * @property {WireHouse} [house]
 * @property {WireHouse[]} [houses]
 * @property {WireCell[]} [cells]
 * @property {WirePlacement[]} [candidates]
 * @property {WirePlacement[]} [placements]
 * @property {WirePlacement[]} [eliminations]
 * @property {{implications?: WireImplication[]}[]} [chains]
 * @property {string} [lookAt]
 * @property {string} [message]
 * @property {string} [candidatesAfter]
 * @property {boolean} [isForced]
 */

/**
 * A hint on the wire.
 * @typedef {object} Hint
 * @property {Step} [step]
 * @property {object} [finished]
 * @property {{conflict?: {cells?: WireCell[]}, wrong?: WirePlacement[], missing?: WirePlacement[]}} [stuck]
 * @property {{message: string}} [error]
 * @property {string} [message]
 */

const box = byId("hint-box", HTMLElement);
const list = byId("hint-stages", HTMLOListElement);
const chains = byId("hint-chains", HTMLElement);
const more = button("hint-more");
const apply = button("hint-apply");

/** The hint on the screen, what its technique is, and how many stages of it. @type {{hint: Hint, about: string, stage: number} | null} */
let shown = null;

/**
 * The candidates of a position that are not taken away, as the server reads them.
 * @param {Position} position
 */
function pencilMarksOf({ shape, values, struck }) {
  const candidates = candidatesOf(shape, values);
  let text = "";
  for (let cell = 0; cell < shape.cells; cell++) {
    const bits = values[cell] ? 1 << (values[cell] - 1) : candidates[cell] & ~struck[cell];
    for (let value = 0; value < shape.side; value++) text += bits & (1 << value) ? LETTERS[value] : ".";
  }
  return text;
}

/**
 * Asks for the next step.
 * @param {Position} position
 * @param {AbortSignal} signal
 * @returns {Promise<Hint>}
 */
function nextStep(position, signal) {
  const { shape, clues, values, struck } = position;
  /** @type {Record<string, unknown>} */
  const request = { options: ownFormat(shape), puzzle: textOf(values), clues: textOf(clues) };
  if (struck.some(Boolean)) request.candidates = pencilMarksOf(position);
  return call("Hint", request, { signal });
}

/**
 * Whether no technique led to a step.
 * @param {Step} step
 */
function isSearch(step) {
  return step.technique === "search";
}

/**
 * The sentence of a step or of a result without one. The server names digits by their number.
 * @param {{message?: string, step?: Step}} told
 * @param {Position} position
 */
export function sentenceOf({ step, message }, { symbols }) {
  const text = message ?? step?.message ?? "";
  const named = [...(step?.placements ?? []), ...(step?.eliminations ?? [])];
  const digits = new Set(named.map(({ digit }) => digit));
  const others = [...digits].filter((digit) => symbols[digit - 1] !== String(digit));
  const notes = others.map((digit) => `${digit} is written ${symbols[digit - 1]}`);
  return page.named(notes.length ? `${text} On this board ${notes.join(", ")}.` : text);
}

/**
 * The colours of a step: houses and cells to look at, candidates that show it, those that go.
 * @param {Step} step
 * @param {Position} position
 * @returns {Decoration}
 */
export function colorsOf(step, { shape }) {
  const { house, houses = house ? [house] : [], cells = [] } = step;
  const { candidates = [], placements = [], eliminations = [] } = step;
  const marks = new Uint8Array(shape.cells);
  const colored = new Uint32Array(shape.cells);
  const gone = new Uint32Array(shape.cells);
  for (const at of houses) for (const cell of cellsOfHouse(shape, at)) marks[cell] |= MARK.LOOK;
  for (const cell of cells) {
    const index = indexOf(shape, cell);
    if (index >= 0) marks[index] |= houses.length ? MARK.TARGET : MARK.LOOK;
  }
  /** @type {(list: WirePlacement[], bits: Uint32Array, mark: number) => void} */
  const add = (list, bits, mark) => {
    for (const { cell, digit } of list) {
      const index = indexOf(shape, cell);
      if (index < 0) continue;
      bits[index] |= 1 << (digit - 1);
      marks[index] |= mark;
    }
  };
  // Of a placed digit its cell is the target, and nothing else.
  if (placements.length) marks.forEach((bits, cell) => (marks[cell] = bits & ~MARK.TARGET));
  else add(candidates, colored, 0);
  add(placements, colored, MARK.TARGET);
  add(eliminations, gone, 0);
  for (let cell = 0; cell < shape.cells; cell++) colored[cell] &= ~gone[cell];
  return { marks, colored, gone };
}

/** @param {Step} step */
function firstStage(step) {
  if (isSearch(step)) return "No technique is left: the next step takes a search.";
  if (step.lookAt) return page.named(step.lookAt);
  const house = nameOfHouse(step.house);
  return house ? `Look at ${house}.` : "Look for a cell with only one candidate.";
}

/**
 * @param {Step} step
 * @param {string} about what its technique is
 */
function secondStage(step, about) {
  if (isSearch(step)) return "No technique applies. A search found a cell and its digit.";
  const rating = step.ratingTenths ? `, rated ${(step.ratingTenths / 10).toFixed(1)}` : "";
  return `The technique is ${step.technique}${rating}. ${about}`.trim();
}

function show() {
  if (!shown) return;
  const { hint, about, stage } = shown;
  const now = page.position();
  const { step } = hint;
  if (!step) return;
  const sentences = [firstStage(step), secondStage(step, about), sentenceOf(hint, now)].slice(0, stage);
  for (const sentence of sentences.slice(list.children.length)) list.append(make("li", {}, sentence));
  more.hidden = stage >= 3;
  apply.hidden = stage < 3;
  box.hidden = false;
  page.setMode("hint");
  const colors = colorsOf(step, now);
  if (stage < 3) {
    colors.marks = colors.marks.map((marks) => marks & MARK.LOOK);
    colors.colored.fill(0);
    colors.gone?.fill(0);
  } else if (step.eliminations?.length) {
    const left = candidatesOf(now.shape, now.values);
    colors.candidates = left.map((bits, cell) => bits & ~now.struck[cell]);
  }
  page.decorate(colors);
  chains.hidden = true;
  clearLinks();
  if (stage === 3) {
    drawLinks(now.shape, step);
    listLinks(chains, step, now.symbols);
  }
  const cell = indexOf(now.shape, (step.placements?.[0] ?? step.eliminations?.[0])?.cell);
  if (stage === 3 && cell >= 0) {
    page.board.select(cell);
    page.board.reveal();
  }
}

/** Shows a result that is no step. @param {Hint} hint */
function tell({ stuck, finished, error, message }) {
  const now = page.position();
  if (stuck) {
    const colors = page.plainDecoration();
    const entries = [...(stuck.wrong ?? []), ...(stuck.missing ?? [])];
    const cells = [...(stuck.conflict?.cells ?? []), ...entries.map(({ cell }) => cell)];
    for (const cell of cells) {
      const index = indexOf(now.shape, cell);
      if (index >= 0) colors.marks[index] |= MARK.WRONG;
    }
    page.decorate(colors);
  }
  page.say(page.named(message || error?.message || ""), finished ? "good" : "bad");
}

function close() {
  shown = null;
  box.hidden = true;
  list.replaceChildren();
  clearLinks();
}

/** @param {AbortSignal} signal */
async function ask(signal) {
  const now = page.position();
  const hint = await nextStep(now, signal);
  const { step } = hint;
  if (!step) return tell(hint);
  const technique = (await techniques()).find(({ name }) => name === step.name);
  signal.throwIfAborted();
  shown = { hint, about: technique?.about ?? "", stage: 1 };
  page.say("");
  show();
}

function press() {
  if (!shown) return run(button("hint"), ask, page);
  if (shown.stage === 3) return put();
  shown.stage++;
  show();
  if (shown.stage === 3 && document.activeElement === document.body) apply.focus();
}

/** Puts the digits of the step into their cells, or takes its candidates away. */
function put() {
  const now = page.position();
  let next = now;
  for (const { cell, digit } of shown?.hint.step?.placements ?? []) {
    const index = indexOf(now.shape, cell);
    if (index >= 0) next = enter(next, index, digit, true);
  }
  const gone = shown?.hint.step?.eliminations ?? [];
  if (gone.length) next = strike(next, gone);
  page.change(next);
  button("hint").focus();
}

/**
 * The position without these candidates.
 * @param {Position} position
 * @param {WirePlacement[]} gone
 * @returns {Position}
 */
function strike(position, gone) {
  const struck = position.struck.slice();
  const marks = position.marks.slice();
  const centre = position.centre.slice();
  for (const { cell, digit } of gone) {
    const index = indexOf(position.shape, cell);
    if (index < 0) continue;
    struck[index] |= 1 << (digit - 1);
    marks[index] &= ~(1 << (digit - 1));
    centre[index] &= ~(1 << (digit - 1));
  }
  return { ...position, struck, marks, centre };
}

/** Wires the controls. */
export function start() {
  button("hint").addEventListener("click", press);
  more.addEventListener("click", press);
  apply.addEventListener("click", put);
  button("hint-close").addEventListener("click", () => {
    close();
    page.setMode("play");
    page.decorate(null);
    button("hint").focus();
  });
  page.onChange(close);
  page.onNames(() => {
    list.replaceChildren();
    show();
  });
}
