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

/** The colours of cells, in words. */
export const COLORS = ["red", "orange", "yellow", "green", "teal", "blue", "purple", "grey"];

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
 * @property {ArrayLike<number>} [candidates] automatic pencil marks, as bits of values
 * @property {ArrayLike<number>} [corner] corner marks, as bits
 * @property {ArrayLike<number>} [centre] centre marks, as bits
 * @property {ArrayLike<number>} [colors] colours, by number
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
  /** The cells that are selected beside that one. @type {Set<number>} */
  #others = new Set();
  /** Whether taps add cells to the selection. */
  #addsCells = false;
  /** Whether a pointer is down that selects cells. */
  #isPressed = false;
  /** @type {Handlers} */
  #handlers;

  /**
   * @param {HTMLElement} grid
   * @param {Handlers} handlers
   */
  constructor(grid, handlers) {
    this.#grid = grid;
    this.#handlers = handlers;
    grid.addEventListener("focusin", (event) => {
      const cell = this.#cellOf(event.target);
      if (!this.#isPressed && cell !== this.#selected) this.#select(cell);
    });
    grid.addEventListener("pointerdown", (event) => this.#press(event));
    grid.addEventListener("pointermove", (event) => this.#drag(event));
    document.addEventListener("pointerup", () => (this.#isPressed = false));
    document.addEventListener("pointercancel", () => (this.#isPressed = false));
    grid.addEventListener("click", (event) => {
      const cell = this.#cellOf(event.target);
      // Only a tap has not selected by now: it might have been the beginning of scrolling.
      if (event instanceof PointerEvent && event.pointerType === "touch" && !this.#addsCells) this.#select(cell);
      this.focus();
    });
    grid.addEventListener("keydown", (event) => this.#key(event));
  }

  /** The selected cell. */
  get selected() {
    return this.#selected;
  }

  /** All selected cells. */
  get selection() {
    return [this.#selected, ...this.#others];
  }

  /**
   * Whether taps add cells to the selection, for fingers, which have no modifier keys.
   * @param {boolean} addsCells
   */
  set addsCells(addsCells) {
    this.#addsCells = addsCells;
    this.#grid.classList.toggle("adding", addsCells);
    if (!addsCells) this.#selectOnly();
  }

  /** The selected cell in words, and how many are selected beside it. */
  get label() {
    const label = this.#cells[this.#selected]?.getAttribute("aria-label") ?? "";
    return this.#others.size ? `${this.#others.size + 1} cells selected. ${label}` : label;
  }

  /** Moves the focus to the selected cell. */
  focus() {
    this.#cells[this.#selected]?.focus({ preventScroll: true });
  }

  /** Scrolls the selected cell into view. */
  reveal() {
    this.#cells[this.#selected]?.scrollIntoView({ block: "nearest", inline: "center" });
    this.#scroll();
  }

  /** Scrolls a board that is larger than its frame to the selected cell, and leaves the page as it is. */
  #scroll() {
    const frame = this.#grid.parentElement;
    const cell = this.#cells[this.#selected]?.getBoundingClientRect();
    if (!frame || !cell || frame.scrollWidth <= frame.clientWidth) return;
    const seen = frame.getBoundingClientRect();
    const margin = cell.width / 2;
    const beyond = (/** @type {number} */ start, /** @type {number} */ end, /** @type {number} */ least, /** @type {number} */ most) =>
      Math.min(0, start - margin - least) || Math.max(0, end + margin - most);
    frame.scrollBy(
      beyond(cell.left, cell.right, seen.left, seen.right),
      beyond(cell.top, cell.bottom, seen.top, seen.bottom),
    );
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
    const { symbols, values, kinds, marks, colored, isFixed } = picture;
    const chosen = picture.isQuiet ? 0 : values[this.#selected];
    const peers = new Set(picture.isQuiet ? [] : picture.shape.peers[this.#selected]);
    for (let cell = 0; cell < this.#cells.length; cell++) {
      const near =
        cell === this.#selected
          ? 3
          : this.#others.has(cell)
            ? 4
            : chosen && values[cell] === chosen
              ? 2
              : Number(peers.has(cell));
      const value = values[cell];
      const drawing = [
        value && symbols[value - 1],
        kinds[cell],
        marks[cell],
        picture.candidates?.[cell],
        picture.corner?.[cell],
        picture.centre?.[cell],
        picture.colors?.[cell],
        colored[cell],
        picture.gone?.[cell],
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
    this.#others.clear();
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
    const candidates = picture.candidates?.[cell] ?? 0;
    const corner = picture.corner?.[cell] ?? 0;
    const centre = picture.centre?.[cell] ?? 0;
    const color = picture.colors?.[cell] ?? 0;
    const colored = picture.colored[cell];
    const gone = picture.gone?.[cell] ?? 0;
    const element = this.#cells[cell];

    const nearness = near >= 3 && isFixed ? "" : ["", "peer", "same", "selected", "selected"][near];
    const classes = [KIND_CLASSES[kind], nearness, color ? `paint-${color}` : ""];
    MARK_CLASSES.forEach((name, bit) => marks & (1 << bit) && classes.push(name));
    element.className = classes.filter(Boolean).join(" ");
    element.tabIndex = near === 3 ? 0 : -1;
    element.setAttribute("aria-selected", String(near >= 3));
    element.setAttribute("aria-readonly", String(kind === KIND.CLUE || isFixed));

    const words = [`Row ${Math.floor(cell / shape.side) + 1}, column ${(cell % shape.side) + 1}`];
    if (value) {
      element.textContent = symbols[value - 1];
      words.push(`${KIND_WORDS[kind]} ${symbols[value - 1]}`);
    } else if (candidates || colored || gone || corner || centre) {
      const offered = valuesIn(colored);
      const hasMarks = candidates || gone || offered.length > 1;
      const parts = hasMarks ? [pencilMarks(shape.order, symbols, candidates, colored, gone)] : [];
      if (!hasMarks && corner) parts.push(cornerMarks(shape.order, symbols, corner));
      if (!hasMarks && centre) parts.push(centreMarks(symbols, centre));
      // Beside marks the digit is hidden, unless the marks are too small to be seen.
      if (offered.length === 1 && !gone) parts.push(ghost(symbols[offered[0] - 1]));
      element.replaceChildren(...parts);
      words.push("blank");
      const list = (/** @type {number} */ bits) =>
        valuesIn(bits)
          .map((value) => symbols[value - 1])
          .join(" ");
      if (candidates) words.push(`marks ${list(candidates | colored)}`);
      if (corner) words.push(`marks ${list(corner)}`);
      if (centre) words.push(`centre marks ${list(centre)}`);
      if (colored) words.push(`offered ${list(colored)}`);
      if (gone) words.push(`taken away ${list(gone)}`);
    } else {
      element.textContent = "";
      words.push("blank");
    }
    if (color) words.push(COLORS[color - 1]);
    MARK_WORDS.forEach((word, bit) => word && marks & (1 << bit) && words.push(word));
    element.setAttribute("aria-label", words.join(", "));
  }

  /** @param {EventTarget | null} target */
  #cellOf(target) {
    const element = target instanceof Element ? target.closest("[role=gridcell]") : null;
    return element instanceof HTMLElement ? Number(element.dataset.cell) : -1;
  }

  /**
   * Selects a cell.
   * @param {number} cell
   * @param {boolean} [isMore] whether those that are selected stay so
   */
  #select(cell, isMore = false) {
    if (cell < 0 || cell >= this.#cells.length) return;
    if (isMore) this.#others.add(this.#selected);
    else if (this.#others.size) this.#others.clear();
    else if (cell === this.#selected) return;
    this.#selected = cell;
    this.#others.delete(cell);
    this.#selectionChanged();
  }

  #selectionChanged() {
    if (this.#shown) this.draw(this.#shown);
    this.#scroll();
    this.#handlers.select(this.#selected);
  }

  /** Selects the cell with the focus alone. @returns {boolean} whether there were others */
  #selectOnly() {
    const hadOthers = this.#others.size > 0;
    if (hadOthers) this.#select(this.#selected);
    return hadOthers;
  }

  /**
   * Selects all cells between the selected one and another.
   * @param {number} cell
   */
  #selectTo(cell) {
    const side = this.#shown?.shape.side ?? 1;
    const from = this.#selected;
    const range = (/** @type {number} */ a, /** @type {number} */ b) =>
      Array.from({ length: Math.abs(a - b) + 1 }, (_, at) => Math.min(a, b) + at);
    for (const row of range(Math.floor(from / side), Math.floor(cell / side)))
      for (const column of range(from % side, cell % side)) this.#others.add(row * side + column);
    this.#select(cell, true);
  }

  /** Selects by the mouse, or by a finger that adds cells. @param {PointerEvent} event */
  #press(event) {
    const cell = this.#cellOf(event.target);
    const isFinger = event.pointerType === "touch";
    if (cell < 0 || event.button !== 0 || this.#shown?.isFixed || (isFinger && !this.#addsCells)) return;
    this.#isPressed = true;
    const isMore = event.ctrlKey || event.metaKey || this.#addsCells;
    if (event.shiftKey) this.#selectTo(cell);
    else if (isMore && this.#others.delete(cell)) this.#selectionChanged();
    else if (isMore && cell === this.#selected && this.#others.size) {
      const [next] = this.#others;
      this.#select(next, true);
      this.#others.delete(cell);
      this.#selectionChanged();
    } else this.#select(cell, isMore);
  }

  /** Adds the cells that a pointer is drawn over. @param {PointerEvent} event */
  #drag(event) {
    if (!this.#isPressed) return;
    const cell = this.#cellOf(document.elementFromPoint(event.clientX, event.clientY));
    if (cell >= 0 && cell !== this.#selected) this.#select(cell, true);
  }

  /**
   * Moves the selection, and the focus with it.
   * @param {number} row
   * @param {number} column
   * @param {boolean} isMore whether cells that are selected stay so
   */
  #moveTo(row, column, isMore) {
    const side = this.#shown?.shape.side ?? 0;
    const within = (/** @type {number} */ at) => Math.max(0, Math.min(side - 1, at));
    const cell = within(row) * side + within(column);
    if (cell !== this.#selected || !isMore) this.#select(cell, isMore);
    this.focus();
    this.#cells[cell]?.scrollIntoView({ block: "nearest", inline: "nearest" });
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
    if (move) this.#moveTo(...move, event.shiftKey);
    else if (isWide && event.key === "a") {
      this.#cells.forEach((_, cell) => this.#others.add(cell));
      this.#select(this.#selected, true);
    } else if (isWide) return;
    else if (event.key === "Backspace" || event.key === "Delete") this.#handlers.erase();
    else if (event.key === " ") this.#handlers.togglePencil();
    else if (event.key === "Escape") this.#selectOnly() || this.#handlers.leave();
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

/** The most corner marks that have a place of their own. */
const MOST_CORNERS = 8;

/**
 * Corner marks, each in a corner or at an edge; more than have room as pencil marks in their places.
 * @param {number} order
 * @param {readonly string[]} symbols
 * @param {number} corner
 */
function cornerMarks(order, symbols, corner) {
  const values = valuesIn(corner);
  if (values.length > MOST_CORNERS) return pencilMarks(order, symbols, corner, 0, 0);
  // With spaces, as in the label.
  const parts = values.flatMap((value) => [make("span", {}, symbols[value - 1]), " "]);
  return make("span", { class: "corners", "aria-hidden": "true" }, ...parts);
}

/**
 * Centre marks, side by side. They are no text, because the text of a cell has to be in its label as it is.
 * @param {readonly string[]} symbols
 * @param {number} centre
 */
function centreMarks(symbols, centre) {
  const text = valuesIn(centre).map((value) => symbols[value - 1]).join("");
  return make("span", { class: text.length > 4 ? "centre many" : "centre", "data-marks": text });
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
