/**
 * The worker that solves a list: it sends slices, collects the answers in order, and counts.
 *
 * Answers stay bytes, in blobs that the browser may keep on the disk; only slices whose tally has
 * errors are searched for them, and only until enough are listed. A list that was stopped, or whose
 * server went away, goes on behind its last answer.
 */

import { CallError, streamBinary } from "./api.js";
import { count, plural } from "./dom.js";
import { NOTATION, SEVERAL_LINES_A_PUZZLE, readSolveLinesResponse, solveLinesRequest } from "./protobuf.js";
import {
  IN_FLIGHT,
  MOST_ERRORS,
  MOST_BYTES,
  beginningOf,
  readingFailure,
  refuseParts,
  slicesOf,
  textOf,
  validateFirst,
  withinLimits,
} from "./slices.js";
import { inWorker } from "./workers.js";

/** @typedef {import("./protobuf.js").Bytes} Bytes */
/** @typedef {import("./protobuf.js").Format} Format */
/** @typedef {import("./protobuf.js").BulkTask} BulkTask */
/** @typedef {import("./slices.js").Beginning} Beginning */
/** @typedef {import("./slices.js").Slice} Slice */

/** The bytes of a file by which its format is detected. */
const SAMPLE = 64_000;

/**
 * The bytes of the first slices: a few puzzles, because they may be hard. Later slices grow and
 * shrink with the time that their answers take, so that progress is seen, and a stop loses little.
 */
const FIRST_BYTES = 2_000;

/** The factor by which slices grow and shrink. */
const GROWTH = 8;

/** The times between which answers to a slice should take, in milliseconds. */
const PACE = { least: 100, most: 1_000 };

/** The run. @type {AbortController | null} */
let running = null;

/** What stands before the sentence of an error. */
const ERROR = "error: ";

/**
 * A list and how far it is solved, so that it can go on from there.
 * @typedef {object} Job
 * @property {string} name
 * @property {BulkTask} task
 * @property {Blob} text
 * @property {Format} format
 * @property {Beginning} beginning
 * @property {number} answers
 * @property {number} errors
 * @property {string[]} errorLines
 * @property {number} bytes the bytes of the next slice
 * @property {{start: number, firstLine: number}} next where the next slice begins
 */

/** What was asked for last. @type {{file: File, task: BulkTask} | null} */
let asked = null;

/** The list, once its format is known. @type {Job | null} */
let job = null;

/**
 * Reads the beginning of a list.
 * @param {File} file
 * @param {BulkTask} task
 * @param {AbortSignal} signal
 * @returns {Promise<Job>}
 */
async function begin(file, task, signal) {
  const { name } = file;
  if (file.size === 0) throw new CallError("malformed", `${name} is empty.`);
  const text = await textOf(file, signal);
  const { format, beginning } = await withinLimits(() => detect(text, name, signal));
  // What may have a puzzle on both sides of a cut is sent as a whole.
  const bytes = SEVERAL_LINES_A_PUZZLE.has(format.notation) ? MOST_BYTES : FIRST_BYTES;
  const next = { start: 0, firstLine: 1 };
  return { name, task, text, format, beginning, answers: 0, errors: 0, errorLines: [], bytes, next };
}

/**
 * Solves a list from where it is.
 * @param {Job} job
 * @param {AbortSignal} signal
 */
async function solve(job, signal) {
  const { text, format, beginning, task, errorLines } = job;
  let settled = performance.now();
  /**
   * Slices with their answers under way, in order.
   * @type {{slice: Slice, answer: Promise<Bytes[]>}[]}
   */
  const waiting = [];
  const settle = async () => {
    const first = waiting.shift();
    if (!first) return;
    const messages = await first.answer;
    const { slice } = first;
    job.next = { start: slice.end, firstLine: slice.firstLine + slice.lines };
    const took = performance.now() - settled;
    settled += took;
    if (took < PACE.least) job.bytes = Math.min(job.bytes * GROWTH, MOST_BYTES);
    else if (took > PACE.most) job.bytes = Math.max(Math.round(job.bytes / GROWTH), 1);
    const parts = [];
    for (const message of messages) {
      const response = readSolveLinesResponse(message);
      if (response.errors && errorLines.length < MOST_ERRORS) {
        listErrors(response.lines, task, job.answers, errorLines);
      }
      job.answers += response.answers;
      job.errors += response.errors;
      parts.push(response.lines);
    }
    const { answers, errors } = job;
    const [lines, line] = [new Blob(parts), job.next.firstLine - 1];
    const share = slice.end / text.size;
    self.postMessage({ type: "answers", lines, answers, errors, errorLines, line, share });
  };
  // A heading is in the first slice, whatever stands above it.
  const wanted = (/** @type {number} */ start) =>
    start === 0 ? Math.min(beginning.end + job.bytes, MOST_BYTES) : job.bytes;
  await withinLimits(async () => {
    waiting.length = 0;
    for await (const slice of slicesOf(text, wanted, job.next)) {
      signal.throwIfAborted();
      if (!(slice.start === 0 && slice.isLast)) refuseParts(format.notation);
      const answer = answersTo(slice, format, beginning, task, signal);
      // An answer that fails is looked at in its turn, not as an error that nobody handles.
      answer.catch(() => {});
      waiting.push({ slice, answer });
      if (waiting.length >= IN_FLIGHT) await settle();
    }
    while (waiting.length) await settle();
  });
}

/**
 * The answers to a slice, as messages: as many as it has puzzles.
 * @param {Slice} slice
 * @param {Format} format
 * @param {Beginning} beginning
 * @param {BulkTask} task
 * @param {AbortSignal} signal
 * @returns {Promise<Bytes[]>}
 */
async function answersTo(slice, format, beginning, task, signal) {
  const isFirst = slice.start === 0;
  const heading = isFirst ? null : beginning.heading;
  const text = heading ? new Blob([heading, slice.text]) : slice.text;
  const firstLine = heading ? slice.firstLine - 1 : slice.firstLine;
  const isByLine = !SEVERAL_LINES_A_PUZZLE.has(format.notation);
  const hasHeading = isFirst ? beginning.headings > 0 : heading !== null;
  const request = solveLinesRequest(text, format, task, firstLine, isByLine ? hasHeading : null);
  const messages = await streamBinary("SolveLines", request, signal);
  if (!isByLine) return messages;
  const answers = messages.reduce((sum, message) => sum + readSolveLinesResponse(message).answers, 0);
  // In a `header` file blank lines and comments are bad puzzles.
  const isHeader = format.notation === NOTATION.HEADER;
  const above = isFirst ? (isHeader ? beginning.lines : beginning.headings) : 0;
  const puzzles = (isHeader ? slice.lines : slice.puzzleLines) - above;
  if (answers !== puzzles) {
    throw new CallError(
      "internal",
      `The server sent ${plural(answers, "answer")} to the lines from ${count(slice.firstLine)} on, ` +
        `which have ${plural(puzzles, "puzzle")}. Solve the list with the program sudoku.`,
    );
  }
  return messages;
}

/**
 * The format of a list, by its first lines, and what stands above its puzzles.
 * @param {Blob} text
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<{format: Format, beginning: Beginning}>}
 */
async function detect(text, name, signal) {
  const samples = text.size <= SAMPLE ? [text.size] : [SAMPLE, MOST_BYTES];
  for (const bytes of samples) {
    for await (const slice of slicesOf(text, () => bytes)) {
      const { format, puzzles, error } = await validateFirst(name, slice, signal, true);
      if (format) return { format, beginning: await beginningOf(slice, format, puzzles) };
      // A sample of comments says nothing; the first megabyte has to.
      if (bytes !== samples.at(-1)) break;
      if (slice.puzzleLines || slice.isLast) throw new CallError("malformed", error ?? `${name} holds no puzzle.`);
      const lines = plural(slice.lines, "line");
      throw new CallError(
        "malformed",
        `${name} holds no puzzle in its first ${lines}, the most that this server reads at once.`,
      );
    }
  }
  throw new CallError("malformed", `${name} holds no puzzle.`);
}

/**
 * Adds the errors among some answers to the list.
 * @param {Uint8Array} lines
 * @param {BulkTask} task
 * @param {number} before the answers before these
 * @param {string[]} errorLines
 */
function listErrors(lines, task, before, errorLines) {
  const text = new TextDecoder().decode(lines);
  for (const [index, line] of text.split("\n").entries()) {
    if (errorLines.length >= MOST_ERRORS) return;
    const sentence = errorOf(line, task, before + index + 1);
    if (sentence) errorLines.push(sentence);
  }
}

/**
 * The sentence of an answer that is an error, or an empty text.
 * @param {string} line
 * @param {BulkTask} task
 * @param {number} number the number of the answer, from 1
 */
function errorOf(line, task, number) {
  if (task.output === 4) {
    if (!line) return "";
    // What the server adds to a row of a table is behind the table's own columns, which keep their names.
    const named = Object.entries(JSON.parse(line)).filter(([name]) => /^error(_\d+)?$/.test(name));
    const error = named.at(-1)?.[1];
    // A row of a table has the code of the error, and no line.
    if (typeof error === "string") return error && `Row ${number.toLocaleString("en-US")}: ${error}`;
    return String(error?.message ?? "");
  }
  const at = line.indexOf(ERROR);
  return at < 0 ? "" : line.slice(at + ERROR.length);
}

/** The codes of errors that another attempt does not mend. */
const LASTING = ["malformed", "invalid_argument", "internal"];

inWorker(async (message) => {
  if (message.type === "stop") {
    running?.abort();
    return;
  }
  if (message.type === "solve") {
    asked = message;
    job = null;
  }
  if (!asked) return;
  const controller = (running = new AbortController());
  try {
    job ??= await begin(asked.file, asked.task, controller.signal);
    await solve(job, controller.signal);
    self.postMessage({ type: "done" });
  } catch (error) {
    const isStopped = error instanceof DOMException && error.name === "AbortError";
    controller.abort();
    const canContinue = isStopped || (error instanceof CallError && !LASTING.includes(error.code));
    const text = readingFailure(error, asked.file.name);
    self.postMessage({ type: "failure", isStopped, canContinue, message: text });
  }
});
