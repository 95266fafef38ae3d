/**
 * Opening puzzle files and data sets of the server, and choosing a puzzle by its number.
 *
 * A file is read by a worker. It takes the place of what was open once all of it has been validated
 * and a good puzzle found; the bad ones are listed.
 */

import { CallError, call } from "./api.js";
import { button, byId, count, make, plural, wholeNumber } from "./dom.js";
import { symbolsOf, valuesOf } from "./grid.js";
import { puzzle } from "./history.js";
import { forget, keep, kept } from "./kept.js";
import * as page from "./page.js";
import { isAbort, messageOf } from "./task.js";
import { startWorker } from "./workers.js";

/**
 * A puzzle as it was found.
 * @typedef {object} Found
 * @property {string} puzzle
 * @property {number} order
 * @property {string} [alphabet]
 * @property {number} number from 0
 * @property {number | string} line
 */

/** Where to look instead of a bad puzzle. @typedef {import("./reader.js").Instead} Instead */

/**
 * What is open.
 * @typedef {object} Source
 * @property {string} name
 * @property {number} puzzles
 * @property {number} bad the bad ones among them
 * @property {string[]} errors the sentences of the first of these
 * @property {boolean} isDataset
 * @property {(number: number, instead?: Instead) => Promise<Found>} get a puzzle by its number, from 0, and end
 *   an earlier call
 */

/** The longest time before the progress of a file is shown, in milliseconds. */
const PATIENCE = 250;

/** @type {Source | null} */
let source = null;

/** The number of the puzzle that was asked for last. */
let at = 0;

/**
 * Where puzzles that were loaded come from, by their clues.
 * @type {WeakMap<Uint8Array, {from: Source, number: number, line: number}>}
 */
const origins = new WeakMap();

/** The files and data sets that were asked for so far: all but the last are obsolete. */
let openings = 0;

/** The puzzles that were asked for so far: all but the last are obsolete. */
let choices = 0;

/** The requests to the worker so far. */
let requests = 0;

const bar = byId("source", HTMLElement);
const field = byId("number", HTMLInputElement);
const opening = byId("opening", HTMLElement);
const openingProgress = byId("opening-progress", HTMLProgressElement);
const openingText = byId("opening-text", HTMLElement);
const datasets = byId("datasets", HTMLSelectElement);
const badList = byId("bad-list", HTMLOListElement);

/** @type {Worker | null} */
let worker = null;

/**
 * What the worker was asked.
 * @type {Map<number, {resolve: (answer: any) => void, reject: (error: Error) => void}>}
 */
const asked = new Map();

/** @param {any} message */
function receive(message) {
  if (message.type === "progress") {
    openingProgress.value = message.bytes / message.all;
    openingText.textContent = plural(message.puzzles, "puzzle");
    return;
  }
  const waiting = message.id === undefined ? [...asked.values()] : [asked.get(message.id)];
  if (message.id === undefined) asked.clear();
  else asked.delete(message.id);
  for (const request of waiting) {
    if (message.type === "answer") request?.resolve(message.answer);
    else if (message.isStopped) request?.reject(new DOMException("stopped", "AbortError"));
    else request?.reject(new CallError("failed", message.message));
  }
}

/**
 * @param {object} request
 * @returns {Promise<any>}
 */
function askWorker(request) {
  prepare();
  const id = ++requests;
  worker?.postMessage({ ...request, id });
  return new Promise((resolve, reject) => asked.set(id, { resolve, reject }));
}

/**
 * Opens a file and shows its first puzzle.
 * @param {File} file
 */
export async function openFile(file) {
  openingProgress.value = 0;
  openingText.textContent = "";
  const mine = ++openings;
  const timer = setTimeout(() => {
    if (mine === openings) opening.hidden = false;
  }, PATIENCE);
  try {
    const { first, ...read } = await askWorker({ type: "open", file });
    const get = (/** @type {number} */ number, instead = {}) => askWorker({ type: "get", number, ...instead });
    if (mine === openings) use({ name: file.name, isDataset: false, get, ...read }, first);
  } catch (error) {
    if (mine === openings && !isAbort(error)) page.fail(messageOf(error));
  } finally {
    clearTimeout(timer);
    if (mine === openings) opening.hidden = true;
  }
}

/**
 * A data set as a source of puzzles.
 * @param {string} name
 * @returns {Source}
 */
function dataset(name) {
  let getting = new AbortController();
  /** @type {Source} */
  const own = { name, puzzles: 0, bad: 0, errors: [], isDataset: true, get };
  async function get(/** @type {number} */ number) {
    getting.abort();
    getting = new AbortController();
    const { signal } = getting;
    const found = await call("GetPuzzle", { name, index: String(number + 1) }, { signal });
    own.puzzles = Number(found.count);
    return { ...found, number, alphabet: found.format?.alphabet };
  }
  return own;
}

/**
 * Opens a data set and shows one of its puzzles.
 * @param {string} name
 * @param {number} [number] from 0
 * @param {(found: Found) => boolean} [isWanted] whether it is the right one
 * @returns {Promise<boolean>} whether it was
 */
export async function openDataset(name, number = 0, isWanted = () => true) {
  const mine = ++openings;
  // A file that is being read is obsolete now.
  worker?.postMessage({ type: "cancel" });
  opening.hidden = true;
  const next = dataset(name);
  const first = await next.get(number).catch((error) => {
    if (mine === openings) throw error;
  });
  if (!first || mine !== openings || !isWanted(first)) return false;
  use(next, first);
  return true;
}

/** Opens the data set again that was open before a reload, if the board has a puzzle of it. */
async function reopen() {
  const { name, number } = JSON.parse(kept("dataset") ?? "{}");
  if (!name || source) return;
  const before = dataset(name);
  const { clues } = page.position();
  try {
    const found = await before.get(number);
    const cells = valuesOf(found.puzzle, symbolsOf(found.alphabet, found.order));
    if (source || String(cells) !== String(clues)) return;
    origins.set(clues, { from: before, number, line: Number(found.line) });
    take(before);
  } catch (error) {
    // It is gone, which whoever wants it finds in the list.
    console.debug(error);
  }
}

/**
 * Takes a source of which a puzzle is known, and shows what it is.
 * @param {Source} next
 */
function take(next) {
  source = next;
  bar.hidden = next.puzzles < 2;
  byId("source-name", HTMLElement).textContent = next.name;
  byId("number-range", HTMLElement).textContent = `Puzzle 0 to ${count(next.puzzles - 1)}`;
  field.max = String(next.puzzles - 1);
  byId("bad", HTMLElement).hidden = next.bad === 0;
  const all = plural(next.bad, "bad puzzle");
  const isCut = next.errors.length < next.bad;
  byId("bad-title", HTMLElement).textContent = isCut ? `The first ${next.errors.length} of ${all}` : all;
  badList.replaceChildren(...next.errors.map((sentence) => make("li", {}, sentence)));
  boardChanged();
}

/**
 * Takes a source that is known to be good, and shows a puzzle of it.
 * @param {Source} next
 * @param {Found} first
 */
function use(next, first) {
  take(next);
  show(first);
  const bad = next.bad ? `, ${count(next.bad)} of them bad` : "";
  page.say(`${next.name} is open: ${plural(next.puzzles, "puzzle")}${bad}.`);
}

/** @param {Found} found */
function show(found) {
  if (!source) return;
  const { number } = found;
  const symbols = symbolsOf(found.alphabet, found.order);
  const title = source.puzzles > 1 ? `${source.name}, puzzle ${count(number)}` : source.name;
  const next = puzzle(found.order, valuesOf(found.puzzle, symbols), title, symbols);
  origins.set(next.clues, { from: source, number, line: Number(found.line) });
  page.load(next, "");
}

/** Shows the number of the puzzle on the board; none if it comes from elsewhere. */
function boardChanged() {
  const origin = origins.get(page.position().clues);
  const isOpen = origin !== undefined && origin.from === source;
  if (isOpen) at = origin.number;
  field.value = isOpen ? String(at) : "";
  byId("number-line", HTMLElement).textContent = isOpen ? `line ${count(origin.line)}` : "";
  if (isOpen && source?.isDataset) keep("dataset", JSON.stringify({ name: source.name, number: at }));
  else forget("dataset");
  drawButtons();
}

function drawButtons() {
  button("previous").disabled = at === 0;
  button("next").disabled = !source || at + 1 >= source.puzzles;
  button("random").disabled = !source || source.puzzles < 2;
}

/**
 * Shows a puzzle of what is open.
 * @param {number} number from 0
 * @param {Instead} [instead]
 */
async function choose(number, instead) {
  if (!source || number < 0 || number >= source.puzzles) return;
  const from = source;
  const mine = ++choices;
  // The next click counts from here, however long the answer takes.
  at = number;
  drawButtons();
  const end = page.sayMeanwhile(`Opening puzzle ${count(number)}…`);
  try {
    const found = await from.get(number, instead);
    if (source === from && mine === choices) show(found);
  } catch (error) {
    if (isAbort(error)) return;
    boardChanged();
    page.fail(messageOf(error));
  } finally {
    end();
  }
}

/** Offers the data sets of the server, if it has some. */
export async function listDatasets() {
  try {
    /** @type {string[]} */
    const names = [];
    let pageToken = "";
    do {
      const answer = await call("ListDatasets", { pageToken }, { isQuiet: true });
      names.push(...(answer.datasets ?? []).map((/** @type {{name: string}} */ { name }) => name));
      pageToken = answer.nextPageToken ?? "";
    } while (pageToken);
    datasets.replaceChildren(
      make("option", { value: "" }, "Data set…"),
      ...names.map((name) => make("option", { value: name }, name)),
    );
    byId("datasets-label", HTMLElement).hidden = names.length === 0;
  } catch (error) {
    // A server that wants a token is asked again once there is one. Whatever else is wrong, the
    // next call says.
    console.debug(error);
  }
}

/** Starts the worker before a file comes, because its modules take a moment to load. */
export function prepare() {
  worker ??= startWorker("reader.js", receive, () => (worker = null));
}

/** Wires the controls. */
export function start() {
  button("opening-cancel").addEventListener("click", () => {
    worker?.postMessage({ type: "cancel" });
    opening.hidden = true;
    page.say("The file was not opened.");
  });
  datasets.addEventListener("change", () => {
    const name = datasets.value;
    // The same one can be chosen again, such as after a failure.
    datasets.value = "";
    if (!name) return;
    page.say(`Opening ${name}…`);
    openDataset(name).catch((error) => isAbort(error) || page.fail(messageOf(error)));
  });
  page.onChange(boardChanged);
  reopen();
  field.addEventListener("change", () => {
    const number = wholeNumber(field);
    if (number !== null) {
      choose(number);
      return;
    }
    const last = (source?.puzzles ?? 1) - 1;
    page.fail(
      `There is no puzzle ${field.value || "of that number"}. Enter a number from 0 to ${count(last)}.`,
    );
  });
  const previous = button("previous");
  const next = button("next");
  previous.addEventListener("click", () => {
    choose(at - 1, { steps: [-1] });
    if (previous.disabled) next.focus();
  });
  next.addEventListener("click", () => {
    choose(at + 1, { steps: [1] });
    if (next.disabled) previous.focus();
  });
  button("random").addEventListener("click", () => {
    if (!source) return;
    // Another one than the one shown.
    const other = Math.floor(Math.random() * (source.puzzles - 1));
    choose(other < at ? other : other + 1, { steps: [1, -1], except: at });
  });
}
