/**
 * The worker that opens puzzle files: it validates all puzzles and finds any of them.
 *
 * A file stays on the disk. What is kept is an index of its slices with the numbers of their
 * puzzles; a puzzle is then read from the file again, by its line where lines and puzzles agree. Bad
 * puzzles have numbers too, and are passed over.
 */

import { CallError, callBinary } from "./api.js";
import {
  NOTATION,
  getPuzzleRequest,
  readGetPuzzleResponse,
  readValidateResponse,
  validateRequest,
} from "./protobuf.js";
import {
  IN_FLIGHT,
  MOST_ERRORS,
  readingFailure,
  slicesOf,
  textOf,
  validateFirst,
  withinLimits,
} from "./slices.js";
import { inWorker } from "./workers.js";

/** @typedef {import("./protobuf.js").Bytes} Bytes */
/** @typedef {import("./protobuf.js").Format} Format */
/** @typedef {import("./slices.js").Slice} Slice */

/**
 * A slice of the file that is open.
 * @typedef {object} Entry
 * @property {number} start
 * @property {number} end
 * @property {number} firstLine
 * @property {number} firstPuzzle from 0
 * @property {number} puzzles
 * @property {number} bad the bad ones among them
 * @property {boolean} isLinewise whether the n-th line that is no comment is the n-th puzzle
 */

/**
 * @typedef {object} Opened
 * @property {string} name
 * @property {Blob} text
 * @property {Format} format
 * @property {Entry[]} entries
 * @property {number} puzzles
 * @property {number} bad the bad ones among them
 * @property {string[]} errors the sentences of the first of these
 */

/** The file that is open. @type {Opened | null} */
let opened = null;

/** Ends the reading of the puzzle that was asked for last. */
let getting = new AbortController();

/** Ends the reading of a file that is not yet known to be good. @type {AbortController | null} */
let reading = null;

/**
 * Validates a file and indexes it. What was open stays open until this has succeeded.
 * @param {File} file
 * @param {AbortController} controller
 * @param {(bytes: number, all: number, puzzles: number) => void} progress
 * @returns {Promise<Opened>}
 */
async function open(file, controller, progress) {
  const { signal } = controller;
  if (file.size === 0) throw new CallError("invalid_argument", `${file.name} is empty.`);
  const text = await textOf(file, signal);
  /** @type {Entry[]} */
  const entries = [];
  /** @type {string[]} */
  const errors = [];
  let [puzzles, bad] = [0, 0];
  let next = { start: 0, firstLine: 1 };
  /** @param {Slice} slice @param {ReturnType<typeof readValidateResponse>} found @param {Format} format */
  const add = (slice, found, format) => {
    const headings = format.notation === NOTATION.HEADER && slice.firstLine === 1 ? 1 : 0;
    const isLinewise = slice.puzzleLines - headings === found.puzzles;
    entries.push({
      start: slice.start,
      end: slice.end,
      firstLine: slice.firstLine,
      firstPuzzle: puzzles,
      puzzles: found.puzzles,
      bad: found.badPuzzles,
      isLinewise,
    });
    puzzles += found.puzzles;
    bad += found.badPuzzles;
    errors.push(...found.errors.slice(0, MOST_ERRORS - errors.length).map(({ message }) => message));
    next = { start: slice.end, firstLine: slice.firstLine + slice.lines };
    progress(slice.end, text.size, puzzles);
  };

  /** @type {Format | null} */
  let format = null;
  /**
   * Slices with their answers under way, in order.
   * @type {{slice: Slice, answer: Promise<Bytes>}[]}
   */
  const waiting = [];
  const settle = async () => {
    const first = waiting.shift();
    if (!first || !format) return;
    add(first.slice, readValidateResponse(await first.answer), format);
  };
  const read = async () => {
    waiting.length = 0;
    for await (const slice of slicesOf(text, undefined, next)) {
      signal.throwIfAborted();
      if (!format) {
        const isWhole = slice.start === 0 && slice.isLast;
        const first = await validateFirst(file.name, slice, signal, isWhole);
        if (first.format && first.puzzles > 0) {
          format = first.format;
          add(slice, first, format);
        } else if (slice.isLast || (first.error && first.puzzles > 0)) {
          throw new CallError("malformed", first.error ?? `${file.name} is empty.`);
        }
        continue;
      }
      const answer = callBinary("Validate", validateRequest(slice.text, format, slice.firstLine, MOST_ERRORS), signal);
      // An answer that fails is looked at in its turn, not as an error that nobody handles.
      answer.catch(() => {});
      waiting.push({ slice, answer });
      if (waiting.length >= IN_FLIGHT) await settle();
    }
    while (waiting.length) await settle();
  };
  try {
    await withinLimits(read);
  } catch (error) {
    controller.abort();
    throw error;
  }
  if (!format) throw new CallError("malformed", `${file.name} is empty.`);
  if (bad === puzzles) throw new CallError("malformed", errors[0]);
  return { name: file.name, text, format, entries, puzzles, bad, errors };
}

/**
 * The slice with a puzzle.
 * @param {Opened} file
 * @param {number} number from 0
 */
function entryOf({ entries }, number) {
  let low = 0;
  let high = entries.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (entries[middle].firstPuzzle <= number) low = middle;
    else high = middle - 1;
  }
  return entries[low];
}

/**
 * One puzzle of the file that is open.
 * @param {Opened} file
 * @param {Entry} entry the slice with it
 * @param {number} number from 0
 * @param {AbortSignal} signal
 */
async function puzzleOf({ text, format }, entry, number, signal) {
  let slice = text.slice(entry.start, entry.end);
  let index = number - entry.firstPuzzle + 1;
  let { firstLine } = entry;
  const isPlain = format.notation === NOTATION.LINES || format.notation === NOTATION.HEADER;
  if (entry.isLinewise && isPlain && entry.puzzles > 1) {
    const headings = format.notation === NOTATION.HEADER && firstLine === 1 ? 1 : 0;
    const line = await lineOf(slice, index + headings);
    slice = line.text;
    firstLine += line.before;
    index = 1;
  }
  const request = getPuzzleRequest(slice, format, index, firstLine);
  return { number, ...readGetPuzzleResponse(await callBinary("GetPuzzle", request, signal)) };
}

/**
 * Where to look instead of a bad puzzle: further on by 1, back by -1; and the one not to take.
 * @typedef {{steps?: number[], except?: number}} Instead
 */

/**
 * The first good puzzle from one on.
 * @param {Opened} file
 * @param {number} number from 0
 * @param {number} step 1 to look further on, -1 to look back, 0 for this one or none
 * @param {number} except
 * @param {AbortSignal} signal
 */
async function goodFrom(file, number, step, except, signal) {
  for (let at = number; at >= 0 && at < file.puzzles; at += step) {
    if (at === except) continue;
    const entry = entryOf(file, at);
    if (step && entry.bad === entry.puzzles) {
      at = step > 0 ? entry.firstPuzzle + entry.puzzles - 1 : entry.firstPuzzle;
      continue;
    }
    try {
      return await puzzleOf(file, entry, at, signal);
    } catch (error) {
      if (!step || !(error instanceof CallError) || error.reason !== "PUZZLE_MALFORMED") throw error;
    }
  }
  return null;
}

/**
 * The n-th line of a slice that is neither blank nor a comment, and the number of lines before it.
 * @param {Blob} slice
 * @param {number} n from 1
 */
async function lineOf(slice, n) {
  const lines = (await slice.text()).split("\n");
  let before = -1;
  for (let left = n; left > 0; ) if (/^\s*[^\s#]/.test(lines[++before])) left--;
  return { text: new Blob([lines[before], "\n"]), before };
}

inWorker((message) => {
  if (message.type === "cancel") reading?.abort();
  else answer(message);
});

/**
 * @param {{id: number, file?: File, number: number} & Instead} request a file to open, or a puzzle of it
 */
async function answer({ id, file, number, steps = [0], except = -1 }) {
  try {
    if (file) {
      reading?.abort();
      const controller = (reading = new AbortController());
      const read = await open(file, controller, (bytes, all, puzzles) =>
        self.postMessage({ type: "progress", id, bytes, all, puzzles }),
      );
      const first = await goodFrom(read, 0, 1, -1, controller.signal);
      controller.signal.throwIfAborted();
      opened = read;
      const { puzzles, bad, errors } = read;
      self.postMessage({ type: "answer", id, answer: { puzzles, bad, errors, first } });
    } else {
      // A worker that failed was replaced by one that has no file.
      if (!opened) throw new CallError("failed_precondition", "The file has to be opened again.");
      getting.abort();
      getting = new AbortController();
      let found = null;
      for (const step of steps) found ??= await goodFrom(opened, number, step, except, getting.signal);
      if (!found) throw new CallError("out_of_range", "There is no other good puzzle in this direction.");
      self.postMessage({ type: "answer", id, answer: found });
    }
  } catch (error) {
    const isStopped = error instanceof DOMException && error.name === "AbortError";
    const message = readingFailure(error, file?.name ?? opened?.name ?? "The file");
    self.postMessage({ type: "failure", id, isStopped, message });
  }
}
