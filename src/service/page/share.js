/**
 * Sharing: a link that holds the puzzle, text to copy, a file, and paper.
 *
 * A link ends with `#p=9x9-` and the cells, 0 for a blank: full stops would be cut off the ends of
 * links by many programs. Behind it may stand what was done, and the data set that the puzzle is of.
 */

import { call } from "./api.js";
import { COLORS } from "./board.js";
import { button, byId, count, download, plural } from "./dom.js";
import { LETTERS, rowsOf, symbolsOf, textOf, valuesOf } from "./grid.js";
import { isTouched, puzzle } from "./history.js";
import * as page from "./page.js";
import { messageOf } from "./task.js";

/** @typedef {import("./history.js").Position} Position */

const dialog = byId("share-dialog", HTMLDialogElement);
const link = byId("share-link", HTMLInputElement);
const text = byId("share-text", HTMLTextAreaElement);
const cells = byId("share-cells", HTMLSelectElement);
const form = byId("share-form-of-text", HTMLSelectElement);
const progress = byId("share-progress", HTMLInputElement);
const note = byId("share-note", HTMLElement);

/** The lists of a position that are progress, with their names in a link. */
const PROGRESS = /** @type {const} */ ([
  ["values", "v"],
  ["given", "g"],
  ["marks", "m"],
  ["centre", "c"],
  ["struck", "x"],
  ["colors", "k"],
]);

/**
 * What was done to a puzzle: of each list the cells that are not 0, as `cell.number` in base 36.
 * @param {Position} position
 */
function progressOf(position) {
  const lists = PROGRESS.map(([list, name]) => {
    const cells = Array.from(position[list], (number, cell) => {
      const isClue = list === "values" && position.clues[cell];
      return number && !isClue ? `${cell.toString(36)}.${number.toString(36)}` : "";
    });
    return [name, cells.filter(Boolean).join("_")];
  });
  return lists.flatMap(([name, text]) => (text ? [`${name}=${text}`] : [])).join("&");
}

/**
 * A puzzle with what was done to it. What does not fit the puzzle is left out.
 * @param {Position} position
 * @param {URLSearchParams} more
 * @returns {Position}
 */
function withProgress(position, more) {
  const { shape, clues } = position;
  const next = { ...position };
  for (const [list, name] of PROGRESS) {
    const most = { values: shape.side, given: 1, colors: COLORS.length }[/** @type {string} */ (list)] ?? 2 ** shape.side - 1;
    const numbers = position[list].slice();
    for (const entry of (more.get(name) ?? "").split("_").filter(Boolean)) {
      const [cell, number] = entry.split(".").map((part) => parseInt(part, 36));
      const isOpen = list === "colors" || clues[cell] === 0;
      if (isOpen && cell < shape.cells && number >= 0 && number <= most) numbers[cell] = number;
    }
    Object.assign(next, { [list]: numbers });
  }
  return next;
}

function write() {
  const now = page.position();
  const { shape, clues, values, symbols } = now;
  const { origin, pathname } = location;
  const done = progress.checked && isTouched(now) ? `&${progressOf(now)}` : "";
  byId("share-progress-label", HTMLElement).hidden = !isTouched(now);
  link.value = `${origin}${pathname}#p=${shape.side}x${shape.side}-${textOf(clues, LETTERS, "0")}${done}`;
  const chosen = cells.value === "clues" ? clues : values;
  text.value = form.value === "grid" ? rowsOf(shape, chosen, symbols) : textOf(chosen, symbols);
  note.textContent = "";
}

/**
 * Copies what a field holds. Where the browser has no clipboard for pages without encryption, the
 * field itself is copied.
 * @param {HTMLInputElement | HTMLTextAreaElement} field
 * @param {string} what
 */
async function copy(field, what) {
  try {
    await navigator.clipboard.writeText(field.value);
  } catch {
    field.select();
    if (!document.execCommand("copy")) {
      const selected = `The ${what.toLowerCase()} is selected: copy it by hand.`;
      note.textContent = `The browser does not let the page copy. ${selected}`;
      return;
    }
  }
  note.textContent = `${what} copied.`;
}

/**
 * The parts of a link, or what is wrong with it.
 * @param {string} hash
 * @returns {{order: number, puzzle: string, more: URLSearchParams} | string}
 */
function read(hash) {
  const [cells, ...more] = hash.split("&");
  // Some programs encode characters of links, or add spaces.
  let decoded = cells;
  try {
    decoded = decodeURIComponent(cells).trim();
  } catch {
    // A per cent sign of its own: a cell like any other that is wrong.
  }
  const parts = /^#p=(\d+)x(\d+)-(.*)$/.exec(decoded);
  if (!parts) return "It begins with #p=, the size and a hyphen: #p=9x9-…";
  const side = Number(parts[1]);
  const order = Math.sqrt(side);
  if (parts[1] !== parts[2] || !Number.isInteger(order) || order < 1 || order > 5) {
    return `Its size is ${parts[1]}x${parts[2]}; sizes are 1x1, 4x4, 9x9, 16x16 and 25x25.`;
  }
  const length = [...parts[3]].length;
  if (length !== side * side) {
    return `It has ${plural(length, "cell")}; a puzzle of ${side}x${side} has ${count(side * side)}.`;
  }
  return { order, puzzle: parts[3], more: new URLSearchParams(more.join("&")) };
}

/**
 * Loads the puzzle of a link. The server says what is wrong with it, in its own sentences.
 * @param {string} hash
 * @param {(name: string, number: number, isWanted: (found: {puzzle: string}) => boolean) => Promise<boolean>}
 *   openDataset
 */
export async function openLink(hash, openDataset) {
  const link = read(hash);
  if (typeof link === "string") {
    page.fail(`The link holds no puzzle. ${link}`);
    return;
  }
  try {
    const options = { notation: "NOTATION_LINES", alphabet: "letters", order: link.order };
    const answer = await call("Validate", { options, puzzle: link.puzzle });
    // Meanwhile another puzzle was loaded, or something was entered.
    if (location.hash !== hash) return;
    if (answer.errors?.length) {
      page.fail(`The link holds no puzzle. ${answer.errors[0].message}`);
      return;
    }
    const cells = valuesOf(link.puzzle, LETTERS);
    let message = "The puzzle of the link is loaded.";
    const file = link.more.get("file");
    if (file) {
      const number = Number(link.more.get("puzzle"));
      const isSame = (/** @type {any} */ found) =>
        String(valuesOf(found.puzzle, symbolsOf(found.alphabet, found.order))) === String(cells);
      // The program reads more than data sets may be, such as arrays of NumPy and lists with bad lines.
      const isOpen = await openDataset(file, number, isSame).catch((error) => {
        message += ` The rest of ${file} cannot be opened here: ${messageOf(error)}`;
        return false;
      });
      if (isOpen) return;
    }
    const shared = withProgress(puzzle(link.order, cells, "Shared puzzle"), link.more);
    page.load(shared, message, true);
  } catch (error) {
    page.fail(messageOf(error));
  }
}

/** Wires the controls. */
export function start() {
  button("share").addEventListener("click", () => {
    write();
    dialog.showModal();
  });
  progress.addEventListener("change", write);
  cells.addEventListener("change", write);
  form.addEventListener("change", write);
  byId("share-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
  });
  button("share-copy-link").addEventListener("click", () => copy(link, "Link"));
  button("share-copy").addEventListener("click", () => copy(text, "Text"));
  button("share-download").addEventListener("click", () => {
    const content = text.value.endsWith("\n") ? text.value : `${text.value}\n`;
    download(new Blob([content], { type: "text/plain" }), "sudoku.txt");
    note.textContent = "sudoku.txt downloaded.";
  });
  button("share-print").addEventListener("click", () => {
    dialog.close();
    window.print();
  });
}
