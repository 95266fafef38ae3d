/**
 * The board: a grid of cells that is drawn from a picture, and the keys and taps on it.
 *
 * Only cells that differ from the picture before are touched, so a search can be played at the rate
 * of frames. The board knows nothing of history or the server: it reports what a person does.
 */

import { make } from "./dom.js";
import { valueOf, valuesIn } from "./grid.js";

/** @typedef {import("./grid.js").Shape} Shape */

/** Kinds of filled cells. */
export const KIND = { BLANK: 0, CLUE: 1, ENTRY: 2, GIVEN: 3, GUESS: 4, STEP: 5 };

/** The words for kinds, for labels. */
const KIND_WORDS = ["blank", "clue", "entry", "solution", "guess", "placed"];

/** The classes of kinds. */
const KIND_CLASSES = ["", "clue", "entry", "given", "guess", "step"];

/** What a cell is marked with, as bits; each has a class of this name. */
export const MARK = { CONFLICT: 1, LOOK: 2, TARGET: 4, WRONG: 8, FRESH: 16 };

const MARK_CLASSES = ["conflict", "look", "target", "wrong", "fresh"];

/** The words for some marks, for labels. */
const MARK_WORDS = ["breaks a rule", "", "next step", "wrong", ""];

/**
 * What the board shows.
 * @typedef {object} Picture
 * @property {Shape} shape
 * @property {readonly string[]} symbols
 * @property {ArrayLike<number>} values
 * @property {ArrayLike<number>} kinds
 * @property {ArrayLike<number>} marks bits of MARK
 * @property {ArrayLike<number>} candidates pencil marks, as bits of values
 * @property {ArrayLike<number>} colored values that a step offers or colours, as bits
 * @property {ArrayLike<number>} [gone] values that a step takes away, as bits
 * @property {boolean} isFixed whether nothing can be entered
 * @property {boolean} isQuiet whether the houses of the selected cell are left uncoloured
 */

/**
 * What a person does.
 * @typedef {object} Handlers
 * @property {(value: number) => void} enter
 * @property {() => void} erase
 * @property {() => void} undo
 * @property {() => void} togglePencil
 * @property {() => void} leave
 * @property {(cell: number) => void} select
 */

/** The board on the page. */
export class Board {
  /** @type {HTMLElement} */
  #grid;
  /** @type {HTMLElement[]} */
  #cells = [];
  /** @type {Picture | null} */
  #shown = null;
  /** What each cell was drawn from. @type {string[]} */
  #drawn = [];
  #selected = 0;
  /** @type {Handlers} */
  #handlers;

  /**
   * @param {HTMLElement} grid
   * @param {Handlers} handlers
   */
  constructor(grid, handlers) {
    this.#grid = grid;
    this.#handlers = handlers;
    grid.addEventListener("focusin", (event) => this.#select(this.#cellOf(event.target)));
    grid.addEventListener("click", (event) => {
      const cell = this.#cellOf(event.target);
      if (cell >= 0) this.#cells[cell].focus({ preventScroll: true });
    });
    grid.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The selected cell. */
  get selected() {
    return this.#selected;
  }

  /** The selected cell in words. */
  get label() {
    return this.#cells[this.#selected]?.getAttribute("aria-label") ?? "";
  }

  /** Moves the focus to the selected cell. */
  focus() {
    this.#cells[this.#selected]?.focus({ preventScroll: true });
  }

  /** Scrolls the selected cell into view. */
  reveal() {
    this.#cells[this.#selected]?.scrollIntoView({ block: "nearest", inline: "center" });
  }

  /**
   * Selects a cell further on in reading order. The focus goes along if the board has it.
   * @param {number} cells
   */
  advance(cells) {
    const hadFocus = this.#grid.contains(document.activeElement);
    this.#select(this.#selected + cells);
    if (hadFocus) this.focus();
  }

  /**
   * Selects a cell without moving the focus.
   * @param {number} cell
   */
  select(cell) {
    this.#select(cell);
  }

  /**
   * Draws a picture.
   * @param {Picture} picture
   */
  draw(picture) {
    const isOther = this.#shown?.shape !== picture.shape;
    const hadFocus = isOther && this.#grid.contains(document.activeElement);
    if (isOther) this.#build(picture.shape);
    this.#shown = picture;
    const { symbols, values, kinds, marks, candidates, colored, isFixed } = picture;
    const chosen = picture.isQuiet ? 0 : values[this.#selected];
    const peers = new Set(picture.isQuiet ? [] : picture.shape.peers[this.#selected]);
    for (let cell = 0; cell < this.#cells.length; cell++) {
      const near =
        cell === this.#selected ? 3 : chosen && values[cell] === chosen ? 2 : peers.has(cell) ? 1 : 0;
      const value = values[cell];
      const drawing = [
        value && symbols[value - 1],
        kinds[cell],
        marks[cell],
        candidates[cell],
        colored[cell],
        picture.gone?.[cell] ?? 0,
      ];
      const key = `${drawing} ${near} ${isFixed}`;
      if (this.#drawn[cell] === key) continue;
      this.#drawn[cell] = key;
      this.#drawCell(cell, near);
    }
    if (hadFocus) this.focus();
  }

  /** @param {Shape} shape */
  #build(shape) {
    const { order, side } = shape;
    this.#grid.style.setProperty("--side", String(side));
    this.#grid.style.setProperty("--order", String(order));
    this.#grid.dataset.order = String(order);
    this.#grid.setAttribute("aria-label", `Sudoku board, ${side} rows and ${side} columns`);
    this.#selected = 0;
    this.#drawn = [];
    this.#cells = [];
    const rows = [];
    for (let row = 0; row < side; row++) {
      const cells = [];
      for (let column = 0; column < side; column++) {
        const cell = make("div", {
          role: "gridcell",
          tabindex: "-1",
          "data-cell": String(row * side + column),
        });
        if (column % order === 0 && column > 0) cell.dataset.left = "";
        if (row % order === 0 && row > 0) cell.dataset.top = "";
        cells.push(cell);
      }
      this.#cells.push(...cells);
      rows.push(make("div", { role: "row" }, ...cells));
    }
    this.#grid.replaceChildren(...rows);
  }

  /**
   * @param {number} cell
   * @param {number} near
   */
  #drawCell(cell, near) {
    const picture = /** @type {Picture} */ (this.#shown);
    const { symbols, shape, isFixed } = picture;
    const value = picture.values[cell];
    const kind = picture.kinds[cell];
    const marks = picture.marks[cell];
    const candidates = picture.candidates[cell];
    const colored = picture.colored[cell];
    const gone = picture.gone?.[cell] ?? 0;
    const element = this.#cells[cell];

    const nearness = near === 3 && isFixed ? "" : ["", "peer", "same", "selected"][near];
    const classes = [KIND_CLASSES[kind], nearness];
    MARK_CLASSES.forEach((name, bit) => marks & (1 << bit) && classes.push(name));
    element.className = classes.filter(Boolean).join(" ");
    element.tabIndex = near === 3 ? 0 : -1;
    element.setAttribute("aria-selected", String(near === 3));
    element.setAttribute("aria-readonly", String(kind === KIND.CLUE || isFixed));

    const words = [`Row ${Math.floor(cell / shape.side) + 1}, column ${(cell % shape.side) + 1}`];
    if (value) {
      element.textContent = symbols[value - 1];
      words.push(`${KIND_WORDS[kind]} ${symbols[value - 1]}`);
    } else if (candidates || colored || gone) {
      const offered = valuesIn(colored);
      const hasMarks = candidates || gone || offered.length > 1;
      const parts = hasMarks ? [pencilMarks(shape.order, symbols, candidates, colored, gone)] : [];
      // Beside marks the digit is hidden, unless the marks are too small to be seen.
      if (offered.length === 1 && !gone) parts.push(ghost(symbols[offered[0] - 1]));
      element.replaceChildren(...parts);
      words.push("blank");
      const list = (/** @type {number} */ bits) =>
        valuesIn(bits)
          .map((value) => symbols[value - 1])
          .join(" ");
      if (candidates) words.push(`marks ${list(candidates | colored)}`);
      if (colored) words.push(`offered ${list(colored)}`);
      if (gone) words.push(`taken away ${list(gone)}`);
    } else {
      element.textContent = "";
      words.push("blank");
    }
    MARK_WORDS.forEach((word, bit) => word && marks & (1 << bit) && words.push(word));
    element.setAttribute("aria-label", words.join(", "));
  }

  /** @param {EventTarget | null} target */
  #cellOf(target) {
    const element = target instanceof Element ? target.closest("[role=gridcell]") : null;
    return element instanceof HTMLElement ? Number(element.dataset.cell) : -1;
  }

  /** @param {number} cell */
  #select(cell) {
    if (cell < 0 || cell === this.#selected || cell >= this.#cells.length) return;
    this.#selected = cell;
    if (this.#shown) this.draw(this.#shown);
    this.#handlers.select(cell);
  }

  /**
   * Moves the selection, and the focus with it.
   * @param {number} row
   * @param {number} column
   */
  #moveTo(row, column) {
    const side = this.#shown?.shape.side ?? 0;
    const within = (/** @type {number} */ at) => Math.max(0, Math.min(side - 1, at));
    const cell = this.#cells[within(row) * side + within(column)];
    cell?.focus({ preventScroll: true });
    cell?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (!this.#shown || event.altKey) return;
    const { shape, symbols } = this.#shown;
    const row = Math.floor(this.#selected / shape.side);
    const column = this.#selected % shape.side;
    const last = shape.side - 1;
    const isWide = event.ctrlKey || event.metaKey;
    const moves = /** @type {Record<string, [number, number]>} */ ({
      ArrowUp: [row - 1, column],
      ArrowDown: [row + 1, column],
      ArrowLeft: [row, column - 1],
      ArrowRight: [row, column + 1],
      PageUp: [row - shape.order, column],
      PageDown: [row + shape.order, column],
      Home: [isWide ? 0 : row, 0],
      End: [isWide ? last : row, last],
    });
    const move = moves[event.key];
    if (move) this.#moveTo(...move);
    else if (isWide) return;
    else if (event.key === "Backspace" || event.key === "Delete") this.#handlers.erase();
    else if (event.key === " ") this.#handlers.togglePencil();
    else if (event.key === "Escape") this.#handlers.leave();
    else if (event.key.length === 1) {
      const value = valueOf(symbols, event.key);
      if (value) this.#handlers.enter(value);
      else if (event.key === "0" || event.key === ".") this.#handlers.enter(0);
      else if (event.key.toLowerCase() === "u") this.#handlers.undo();
      else return;
    } else return;
    event.preventDefault();
  }
}

/**
 * A digit that a step offers for a cell.
 * @param {string} symbol
 */
function ghost(symbol) {
  return make("span", { class: "ghost", "aria-hidden": "true" }, symbol);
}

/** A place of a pencil mark without one: as wide as a digit, but no space between words. */
const NO_MARK = "\u2007";

/**
 * Pencil marks as lines of text, each value in its place, which costs one text node a cell;
 * elements only where some are coloured.
 * @param {number} order
 * @param {readonly string[]} symbols
 * @param {number} candidates
 * @param {number} colored
 * @param {number} gone
 */
function pencilMarks(order, symbols, candidates, colored, gone) {
  const marks = make("span", { class: "marks", "aria-hidden": "true" });
  let text = "";
  for (let value = 1; value <= order * order; value++) {
    const bit = 1 << (value - 1);
    if (value > 1) text += value % order === 1 ? "\n" : " ";
    if ((colored | gone) & bit) {
      marks.append(text, make(gone & bit ? "s" : "b", {}, symbols[value - 1]));
      text = "";
    } else {
      text += candidates & bit ? symbols[value - 1] : NO_MARK;
    }
  }
  marks.append(text);
  return marks;
}
