/**
 * Opening puzzle files and data sets of the server, and choosing a puzzle by its number.
 *
 * A file is read by a worker. It takes the place of what was open only when all of its puzzles are
 * known to be well formed.
 */

import { CallError, call } from "./api.js";
import { button, byId, count, make, plural, wholeNumber } from "./dom.js";
import { symbolsOf, valuesOf } from "./grid.js";
import { puzzle } from "./history.js";
import * as page from "./page.js";
import { isAbort, messageOf } from "./task.js";
import { startWorker } from "./workers.js";

/**
 * A puzzle as it was found.
 * @typedef {object} Found
 * @property {string} puzzle
 * @property {number} order
 * @property {string} [alphabet]
 */

/**
 * What is open.
 * @typedef {object} Source
 * @property {string} name
 * @property {number} puzzles
 * @property {(number: number) => Promise<Found>} get a puzzle by its number, from 0, and end
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
 * @type {WeakMap<Uint8Array, {from: Source, number: number}>}
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
    const { puzzles, first } = await askWorker({ type: "open", file });
    const get = (/** @type {number} */ number) => askWorker({ type: "get", number });
    if (mine === openings) use({ name: file.name, puzzles, get }, first, 0);
  } catch (error) {
    if (mine === openings && !isAbort(error)) page.fail(messageOf(error));
  } finally {
    clearTimeout(timer);
    if (mine === openings) opening.hidden = true;
  }
}

/**
 * Opens a data set and shows its first puzzle.
 * @param {string} name
 */
async function openDataset(name) {
  let getting = new AbortController();
  const get = async (/** @type {number} */ number) => {
    getting.abort();
    getting = new AbortController();
    const { signal } = getting;
    const found = await call("GetPuzzle", { name, index: String(number + 1) }, { signal });
    return { ...found, alphabet: found.format?.alphabet };
  };
  const mine = ++openings;
  // A file that is being read is obsolete now.
  worker?.postMessage({ type: "cancel" });
  opening.hidden = true;
  page.say(`Opening ${name}…`);
  try {
    const first = await get(0);
    if (mine === openings) use({ name, puzzles: Number(first.count), get }, first, 0);
  } catch (error) {
    if (mine === openings) page.fail(messageOf(error));
  }
}

/**
 * Takes a source that is known to be good.
 * @param {Source} next
 * @param {Found} first
 * @param {number} number
 */
function use(next, first, number) {
  source = next;
  bar.hidden = next.puzzles < 2;
  byId("source-name", HTMLElement).textContent = next.name;
  byId("number-range", HTMLElement).textContent = `Puzzle 0 to ${count(next.puzzles - 1)}`;
  field.max = String(next.puzzles - 1);
  show(first, number);
  page.say(`${next.name} is open: ${plural(next.puzzles, "puzzle")}.`);
}

/**
 * @param {Found} found
 * @param {number} number
 */
function show(found, number) {
  if (!source) return;
  const symbols = symbolsOf(found.alphabet, found.order);
  const title = source.puzzles > 1 ? `${source.name}, puzzle ${count(number)}` : source.name;
  const next = puzzle(found.order, valuesOf(found.puzzle, symbols), title, symbols);
  origins.set(next.clues, { from: source, number });
  page.load(next, "");
}

/** Shows the number of the puzzle on the board; none if it comes from elsewhere. */
function boardChanged() {
  const origin = origins.get(page.position().clues);
  const isOpen = origin !== undefined && origin.from === source;
  if (isOpen) at = origin.number;
  field.value = isOpen ? String(at) : "";
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
 */
async function choose(number) {
  if (!source || number < 0 || number >= source.puzzles) return;
  const from = source;
  const mine = ++choices;
  // The next click counts from here, however long the answer takes.
  at = number;
  drawButtons();
  const end = page.sayMeanwhile(`Opening puzzle ${count(number)}…`);
  try {
    const found = await from.get(number);
    if (source === from && mine === choices) show(found, number);
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
    if (name) openDataset(name);
  });
  page.onChange(boardChanged);
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
    choose(at - 1);
    if (previous.disabled) next.focus();
  });
  next.addEventListener("click", () => {
    choose(at + 1);
    if (next.disabled) previous.focus();
  });
  button("random").addEventListener("click", () => {
    if (!source) return;
    // Another one than the one shown.
    const other = Math.floor(Math.random() * (source.puzzles - 1));
    choose(other < at ? other : other + 1);
  });
}
