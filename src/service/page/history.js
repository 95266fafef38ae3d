/**
 * What a person works on: positions, the changes from one to the next, and undo and redo.
 *
 * A position never changes, so the history is a list of them. A puzzle that is loaded is a change
 * like any other: whoever opens a file by mistake gets the work before it back.
 */

import { LETTERS, shapeOf } from "./grid.js";

/** @typedef {import("./grid.js").Shape} Shape */

/**
 * A puzzle, and what was done to it.
 * @typedef {object} Position
 * @property {Shape} shape
 * @property {readonly string[]} symbols the characters of the values
 * @property {string} title
 * @property {boolean} isPuzzle false for the board that waits for a puzzle
 * @property {Uint8Array} clues
 * @property {Uint8Array} values clues and entries
 * @property {Uint8Array} given 1 for entries of the program, such as those of a solution
 * @property {Uint32Array} marks corner marks, which are made by hand, as bits
 * @property {Uint32Array} centre centre marks, which are made by hand, as bits
 * @property {Uint32Array} struck automatic pencil marks that were taken away by hand, as bits
 * @property {Uint8Array} colors the colours of cells, by number, 0 for none
 */

/** The layers of marks that are made by hand. @typedef {"marks" | "centre" | "struck"} Layer */

/** The most positions that are kept. */
const MOST_POSITIONS = 2_000;

/**
 * A puzzle without entries.
 * @param {number} order
 * @param {Uint8Array} clues
 * @param {string} title
 * @param {readonly string[]} [symbols]
 * @returns {Position}
 */
export function puzzle(order, clues, title, symbols = LETTERS.slice(0, order * order)) {
  const shape = shapeOf(order);
  return {
    shape,
    symbols,
    title,
    isPuzzle: true,
    clues,
    values: clues.slice(),
    given: new Uint8Array(shape.cells),
    marks: new Uint32Array(shape.cells),
    centre: new Uint32Array(shape.cells),
    struck: new Uint32Array(shape.cells),
    colors: new Uint8Array(shape.cells),
  };
}

/**
 * A board without a puzzle.
 * @param {number} order
 * @returns {Position}
 */
export function emptyBoard(order) {
  return { ...puzzle(order, new Uint8Array(order ** 4), ""), isPuzzle: false };
}

/**
 * Puts a value into a cell, or takes it out with 0. Pencil marks of the value go from its houses.
 * @param {Position} position
 * @param {number} cell
 * @param {number} value
 * @param {boolean} [isGiven] whether the program says so
 * @returns {Position} the same if nothing changes
 */
export function enter(position, cell, value, isGiven = false) {
  const { shape, clues } = position;
  if (clues[cell] || value > shape.side || position.values[cell] === value) return position;
  const values = position.values.slice();
  const given = position.given.slice();
  values[cell] = value;
  given[cell] = value && isGiven ? 1 : 0;
  const next = { ...position, values, given };
  const bit = value ? 1 << (value - 1) : 0;
  for (const layer of /** @type {const} */ (["marks", "centre"])) {
    if (!shape.peers[cell].some((peer) => position[layer][peer] & bit)) continue;
    next[layer] = position[layer].slice();
    for (const peer of shape.peers[cell]) next[layer][peer] &= ~bit;
  }
  return next;
}

/**
 * Puts a pencil mark into blank cells, or takes it away where all of them have it.
 * @param {Position} position
 * @param {number[]} cells
 * @param {number} value
 * @param {Layer} layer
 * @returns {Position}
 */
export function toggleMark(position, cells, value, layer) {
  const blank = cells.filter((cell) => !position.values[cell]);
  if (!blank.length || value < 1 || value > position.shape.side) return position;
  const bit = 1 << (value - 1);
  const bits = position[layer].slice();
  const haveAll = blank.every((cell) => bits[cell] & bit);
  for (const cell of blank) bits[cell] = haveAll ? bits[cell] & ~bit : bits[cell] | bit;
  return { ...position, [layer]: bits };
}

/**
 * Colours cells, or takes the colour away where all of them have it.
 * @param {Position} position
 * @param {number[]} cells
 * @param {number} color
 * @returns {Position}
 */
export function toggleColor(position, cells, color) {
  const colors = position.colors.slice();
  const haveAll = cells.every((cell) => colors[cell] === color);
  for (const cell of cells) colors[cell] = haveAll ? 0 : color;
  return { ...position, colors };
}

/**
 * Blanks cells: their entries, or else their pencil marks, or else their colours.
 * @param {Position} position
 * @param {number[]} cells
 * @returns {Position} the same if there is nothing to blank
 */
export function erase(position, cells) {
  const { clues, values } = position;
  const entered = cells.filter((cell) => values[cell] && !clues[cell]);
  if (entered.length) return entered.reduce((next, cell) => enter(next, cell, 0), position);
  const layers = /** @type {const} */ (["marks", "centre", "struck"]);
  const marked = cells.filter((cell) => !values[cell] && layers.some((layer) => position[layer][cell]));
  const painted = cells.filter((cell) => position.colors[cell]);
  if (!marked.length) return painted.length ? toggleColor(position, painted, 0) : position;
  const next = { ...position };
  for (const layer of layers) {
    next[layer] = position[layer].slice();
    for (const cell of marked) next[layer][cell] = 0;
  }
  return next;
}

/**
 * The puzzle as it was loaded.
 * @param {Position} position
 * @returns {Position}
 */
export function restart(position) {
  const { shape, clues, title, symbols, isPuzzle } = position;
  return { ...puzzle(shape.order, clues, title, symbols), isPuzzle };
}

/**
 * The board with all entries as clues.
 * @param {Position} position
 * @returns {Position}
 */
export function asPuzzle(position) {
  return puzzle(position.shape.order, position.values, "Your puzzle", position.symbols);
}

/**
 * Shows a solution in all cells that are no clues.
 * @param {Position} position
 * @param {Uint8Array} solution
 * @returns {Position}
 */
export function withSolution(position, solution) {
  const given = position.clues.map((clue) => (clue ? 0 : 1));
  return { ...position, values: solution, given };
}

/**
 * Whether anything differs from the puzzle as it was loaded.
 * @param {Position} position
 */
export function isTouched({ clues, values, marks, centre, struck, colors }) {
  const isEntered = values.some((value, cell) => value !== clues[cell]);
  return isEntered || [marks, centre, struck, colors].some((list) => list.some(Boolean));
}

/** The lists of a position. */
const LISTS = {
  clues: Uint8Array,
  values: Uint8Array,
  given: Uint8Array,
  marks: Uint32Array,
  centre: Uint32Array,
  struck: Uint32Array,
  colors: Uint8Array,
};

/**
 * A position as JSON can hold it.
 * @param {Position} position
 */
export function packed(position) {
  const { shape, symbols, title, isPuzzle } = position;
  const names = /** @type {(keyof typeof LISTS)[]} */ (Object.keys(LISTS));
  const lists = names.map((name) => [name, Array.from(position[name])]);
  return { order: shape.order, symbols, title, isPuzzle, ...Object.fromEntries(lists) };
}

/**
 * A position from what `packed` made of it. Throws if its parts do not fit its size.
 * @param {any} kept
 * @returns {Position}
 */
export function unpacked({ order, ...kept }) {
  const shape = shapeOf(order);
  const lists = Object.entries(LISTS).map(([name, type]) => [name, type.from(kept[name])]);
  const fits = kept.symbols.length === shape.side && lists.every(([, list]) => list.length === shape.cells);
  if (!fits) throw new RangeError("the kept board does not fit its size");
  return { ...kept, shape, ...Object.fromEntries(lists) };
}

/** The positions so far, and those taken back. */
export class History {
  /** @type {Position[]} */
  #positions;
  #at = 0;

  /** @param {Position} first */
  constructor(first) {
    this.#positions = [first];
  }

  /** The position on the board. */
  get now() {
    return this.#positions[this.#at];
  }

  /** Whether there is a change to take back. */
  get canUndo() {
    return this.#at > 0;
  }

  /** Whether there is a change to make again. */
  get canRedo() {
    return this.#at + 1 < this.#positions.length;
  }

  /**
   * Adds a position; what was taken back is forgotten.
   * @param {Position} position
   */
  push(position) {
    this.#positions.length = this.#at + 1;
    this.#positions.push(position);
    if (this.#positions.length > MOST_POSITIONS) this.#positions.shift();
    this.#at = this.#positions.length - 1;
  }

  /** Goes one position back. */
  undo() {
    if (this.canUndo) this.#at--;
  }

  /**
   * Goes back to a position, if it is still there.
   * @param {Position} position
   */
  undoTo(position) {
    const at = this.#positions.lastIndexOf(position, this.#at);
    if (at >= 0) this.#at = at;
  }

  /** Goes one position forward again. */
  redo() {
    if (this.canRedo) this.#at++;
  }
}
