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
 * @property {Uint32Array} marks pencil marks by hand, as bits
 * @property {Uint32Array} struck automatic pencil marks that were taken away by hand, as bits
 */

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
    struck: new Uint32Array(shape.cells),
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
  let { marks } = position;
  const bit = value ? 1 << (value - 1) : 0;
  if (value && shape.peers[cell].some((peer) => marks[peer] & bit)) {
    marks = marks.slice();
    for (const peer of shape.peers[cell]) marks[peer] &= ~bit;
  }
  return { ...position, values, given, marks };
}

/**
 * Puts a pencil mark into a blank cell, or takes it away.
 * @param {Position} position
 * @param {number} cell
 * @param {number} value
 * @param {boolean} automatic whether the automatic marks are shown
 * @returns {Position}
 */
export function toggleMark(position, cell, value, automatic) {
  if (position.values[cell] || value < 1 || value > position.shape.side) return position;
  const layer = automatic ? "struck" : "marks";
  const bits = position[layer].slice();
  bits[cell] ^= 1 << (value - 1);
  return { ...position, [layer]: bits };
}

/**
 * Blanks a cell: its entry, or else its pencil marks.
 * @param {Position} position
 * @param {number} cell
 * @returns {Position}
 */
export function erase(position, cell) {
  if (position.clues[cell]) return position;
  if (position.values[cell]) return enter(position, cell, 0);
  if (!position.marks[cell] && !position.struck[cell]) return position;
  const marks = position.marks.slice();
  const struck = position.struck.slice();
  marks[cell] = struck[cell] = 0;
  return { ...position, marks, struck };
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
export function isTouched({ clues, values, marks, struck }) {
  return values.some((value, cell) => value !== clues[cell]) || marks.some(Boolean) || struck.some(Boolean);
}

/** The lists of a position. */
const LISTS = {
  clues: Uint8Array,
  values: Uint8Array,
  given: Uint8Array,
  marks: Uint32Array,
  struck: Uint32Array,
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
