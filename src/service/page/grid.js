/**
 * Grids: shapes of the five orders, symbols of values, conflicts and candidates.
 *
 * Values are numbers, 0 for a blank cell; which characters stand for them is a matter of the
 * alphabet. Nothing here knows of the page or the server.
 */

/**
 * The geometry of an order.
 * @typedef {object} Shape
 * @property {number} order the side of a box
 * @property {number} side the cells of a house
 * @property {number} cells all cells
 * @property {readonly (readonly number[])[]} houses rows, then columns, then boxes
 * @property {readonly (readonly number[])[]} housesOf the three houses of a cell, by number
 * @property {readonly (readonly number[])[]} peers the cells that share a house with a cell
 */

/** The kind of a house on the wire. @typedef {"KIND_ROW" | "KIND_COLUMN" | "KIND_BOX"} HouseKind */

/** The characters of the alphabet `letters`, which the page uses for all calls. */
export const LETTERS = [..."123456789ABCDEFGHIJKLMNOP"];

/** @type {Map<number, Shape>} */
const shapes = new Map();

/**
 * The shape of an order.
 * @param {number} order
 * @returns {Shape}
 */
export function shapeOf(order) {
  const known = shapes.get(order);
  if (known) return known;
  const side = order * order;
  const cells = side * side;
  /** @type {number[][]} */
  const houses = Array.from({ length: 3 * side }, () => []);
  /** @type {number[][]} */
  const housesOf = [];
  for (let cell = 0; cell < cells; cell++) {
    const row = Math.floor(cell / side);
    const column = cell % side;
    const box = Math.floor(row / order) * order + Math.floor(column / order);
    const own = [row, side + column, 2 * side + box];
    for (const house of own) houses[house].push(cell);
    housesOf.push(own);
  }
  const peers = housesOf.map((own, cell) => {
    const all = new Set(own.flatMap((house) => houses[house]));
    all.delete(cell);
    return [...all];
  });
  const shape = { order, side, cells, houses, housesOf, peers };
  shapes.set(order, shape);
  return shape;
}

/**
 * The characters of an alphabet, given by its name or by themselves.
 * @param {string | undefined} alphabet
 * @param {number} order
 * @returns {readonly string[]}
 */
export function symbolsOf(alphabet, order) {
  const side = order * order;
  switch (alphabet) {
    case undefined:
    case "":
    case "letters":
      return LETTERS.slice(0, side);
    case "ascii":
      return Array.from({ length: side }, (_, i) => String.fromCharCode(49 + i));
    case "alpha":
      return Array.from({ length: side }, (_, i) => String.fromCharCode(65 + i));
    case "hex":
      return [..."0123456789ABCDEF"].slice(0, side);
    default: {
      const own = [...alphabet];
      return own.length >= side ? own.slice(0, side) : LETTERS.slice(0, side);
    }
  }
}

/**
 * The value that a typed character stands for, or 0.
 * @param {readonly string[]} symbols
 * @param {string} character
 */
export function valueOf(symbols, character) {
  const exact = symbols.indexOf(character);
  if (exact >= 0) return exact + 1;
  const folded = character.toLowerCase();
  return symbols.findIndex((symbol) => symbol.toLowerCase() === folded) + 1;
}

/**
 * Reads cells. Characters that are no symbols are blanks: only texts of the server come here.
 * @param {string} text
 * @param {readonly string[]} symbols
 */
export function valuesOf(text, symbols) {
  return Uint8Array.from([...text], (character) => valueOf(symbols, character));
}

/**
 * Writes cells on one line.
 * @param {ArrayLike<number>} values
 * @param {readonly string[]} [symbols]
 * @param {string} [blank]
 */
export function textOf(values, symbols = LETTERS, blank = ".") {
  return Array.from(values, (value) => (value ? symbols[value - 1] : blank)).join("");
}

/**
 * Writes cells as rows with rulers between boxes.
 * @param {Shape} shape
 * @param {ArrayLike<number>} values
 * @param {readonly string[]} symbols
 */
export function rowsOf({ order, side }, values, symbols) {
  const lines = [];
  const ruler = Array(order)
    .fill("-".repeat(2 * order - 1))
    .join("-+-");
  for (let row = 0; row < side; row++) {
    if (row > 0 && row % order === 0) lines.push(ruler);
    const boxes = [];
    for (let box = 0; box < order; box++) {
      const start = row * side + box * order;
      boxes.push([...textOf(Array.from(values).slice(start, start + order), symbols)].join(" "));
    }
    lines.push(boxes.join(" | "));
  }
  return `${lines.join("\n")}\n`;
}

/**
 * The cells that break a rule: 1 for a cell whose value is in one of its houses again.
 * @param {Shape} shape
 * @param {ArrayLike<number>} values
 */
export function conflictsOf(shape, values) {
  const conflicts = new Uint8Array(shape.cells);
  for (const house of shape.houses) {
    /** @type {(number | undefined)[]} */
    const first = Array(shape.side + 1);
    for (const cell of house) {
      const value = values[cell];
      if (!value) continue;
      const other = first[value];
      if (other === undefined) first[value] = cell;
      else conflicts[cell] = conflicts[other] = 1;
    }
  }
  return conflicts;
}

/**
 * The values that no house of a blank cell holds, as bits: bit 0 for the value 1. Filled cells have
 * none.
 * @param {Shape} shape
 * @param {ArrayLike<number>} values
 */
export function candidatesOf(shape, values) {
  const all = 2 ** shape.side - 1;
  const taken = shape.houses.map((house) =>
    house.reduce((bits, cell) => (values[cell] ? bits | (1 << (values[cell] - 1)) : bits), 0),
  );
  const candidates = new Uint32Array(shape.cells);
  for (let cell = 0; cell < shape.cells; cell++) {
    if (values[cell]) continue;
    const [row, column, box] = shape.housesOf[cell];
    candidates[cell] = all & ~(taken[row] | taken[column] | taken[box]);
  }
  return candidates;
}

/**
 * The values in a set of bits.
 * @param {number} bits
 */
export function valuesIn(bits) {
  const values = [];
  for (let value = 1; value <= 25; value++) if (bits & (1 << (value - 1))) values.push(value);
  return values;
}

/**
 * The index of a cell on the wire, or -1.
 * @param {Shape} shape
 * @param {{row?: number, column?: number} | undefined} cell
 */
export function indexOf({ side }, cell) {
  if (!cell?.row || !cell.column || cell.row > side || cell.column > side) return -1;
  return (cell.row - 1) * side + cell.column - 1;
}

/**
 * The cells of a house on the wire.
 * @param {Shape} shape
 * @param {{kind?: string, number?: number} | undefined} house
 * @returns {readonly number[]}
 */
export function cellsOfHouse({ side, houses }, house) {
  const at = { KIND_ROW: 0, KIND_COLUMN: side, KIND_BOX: 2 * side }[house?.kind ?? ""];
  if (at === undefined || !house?.number) return [];
  return houses[at + house.number - 1] ?? [];
}

/**
 * A house in words: `row 3`.
 * @param {{kind?: string, number?: number} | undefined} house
 */
export function nameOfHouse(house) {
  const kind = { KIND_ROW: "row", KIND_COLUMN: "column", KIND_BOX: "box" }[house?.kind ?? ""];
  return kind && house?.number ? `${kind} ${house.number}` : "";
}
