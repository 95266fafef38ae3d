/**
 * The worker that opens puzzle files: it validates all puzzles and finds any of them.
 *
 * A file stays on the disk. What is kept is an index of its slices with the numbers of their
 * puzzles; a puzzle is then read from the file again, by its line where lines and puzzles agree.
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
  asTextOfItsOwn,
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
 * @property {boolean} isLinewise whether the n-th line that is no comment is the n-th puzzle
 */

/**
 * @typedef {object} Opened
 * @property {string} name
 * @property {Blob} text
 * @property {Format} format
 * @property {Entry[]} entries
 * @property {number} puzzles
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
  let puzzles = 0;
  let next = { start: 0, firstLine: 1 };
  /** @param {Slice} slice @param {number} found @param {Format} format */
  const add = (slice, found, format) => {
    const headings = format.notation === NOTATION.HEADER && slice.firstLine === 1 ? 1 : 0;
    const isLinewise = slice.puzzleLines - headings === found;
    entries.push({
      start: slice.start,
      end: slice.end,
      firstLine: slice.firstLine,
      firstPuzzle: puzzles,
      puzzles: found,
      isLinewise,
    });
    puzzles += found;
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
    const response = readValidateResponse(await first.answer);
    if (response.errors.length) throw new CallError("malformed", response.errors[0].message);
    add(first.slice, response.puzzles, format);
  };
  const read = async () => {
    waiting.length = 0;
    for await (const slice of slicesOf(text, undefined, next)) {
      signal.throwIfAborted();
      if (!format) {
        const isWhole = slice.start === 0 && slice.isLast;
        const first = await validateFirst(file.name, slice, signal, isWhole);
        if (first.format && first.puzzles > 0) {
          if (first.error) throw new CallError("malformed", first.error);
          format = first.format;
          add(slice, first.puzzles, format);
        } else if (slice.isLast || (first.error && first.puzzles > 0)) {
          throw new CallError("malformed", first.error ?? `${file.name} is empty.`);
        }
        continue;
      }
      const answer = callBinary("Validate", validateRequest(slice.text, format, slice.firstLine), signal);
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
  return { name: file.name, text, format, entries, puzzles };
}

/**
 * One puzzle of the file that is open.
 * @param {Opened} file
 * @param {number} number from 0
 * @param {AbortSignal} signal
 */
async function puzzleOf({ text, format, entries }, number, signal) {
  let low = 0;
  let high = entries.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (entries[middle].firstPuzzle <= number) low = middle;
    else high = middle - 1;
  }
  const entry = entries[low];
  let slice = text.slice(entry.start, entry.end);
  let index = number - entry.firstPuzzle + 1;
  let firstLine = entry.firstLine;
  const isPlain = format.notation === NOTATION.LINES || format.notation === NOTATION.HEADER;
  if (entry.isLinewise && isPlain && entry.puzzles > 1) {
    const headings = format.notation === NOTATION.HEADER && firstLine === 1 ? 1 : 0;
    slice = await lineOf(slice, index + headings);
    index = 1;
    firstLine = 2;
  }
  const sent = asTextOfItsOwn(slice, firstLine, format);
  const request = getPuzzleRequest(sent, format, index);
  return readGetPuzzleResponse(await callBinary("GetPuzzle", request, signal));
}

/**
 * The n-th line of a slice that is neither blank nor a comment.
 * @param {Blob} slice
 * @param {number} n from 1
 */
async function lineOf(slice, n) {
  const lines = (await slice.text()).split("\n");
  const line = lines.filter((line) => /^\s*[^\s#]/.test(line))[n - 1];
  return new Blob([line, "\n"]);
}

inWorker((message) => {
  if (message.type === "cancel") reading?.abort();
  else answer(message);
});

/** @param {{id: number, file?: File, number: number}} request a file to open, or a puzzle of it */
async function answer({ id, file, number }) {
  try {
    if (file) {
      reading?.abort();
      const controller = (reading = new AbortController());
      const read = await open(file, controller, (bytes, all, puzzles) =>
        self.postMessage({ type: "progress", id, bytes, all, puzzles }),
      );
      const first = await puzzleOf(read, 0, controller.signal);
      controller.signal.throwIfAborted();
      opened = read;
      self.postMessage({ type: "answer", id, answer: { puzzles: read.puzzles, first } });
    } else {
      // A worker that failed was replaced by one that has no file.
      if (!opened) throw new CallError("failed_precondition", "The file has to be opened again.");
      getting.abort();
      getting = new AbortController();
      self.postMessage({ type: "answer", id, answer: await puzzleOf(opened, number, getting.signal) });
    }
  } catch (error) {
    const isStopped = error instanceof DOMException && error.name === "AbortError";
    const message = readingFailure(error, file?.name ?? opened?.name ?? "The file");
    self.postMessage({ type: "failure", id, isStopped, message });
  }
}
