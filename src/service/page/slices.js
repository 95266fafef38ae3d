/**
 * A file as the server takes it: in slices of whole lines, within the limits of a message.
 *
 * Runs in workers, so that reading a long file never delays a frame of the page.
 */

import { CallError, callBinary } from "./api.js";
import { NOTATION, SEVERAL_LINES_A_PUZZLE, readValidateResponse, validateRequest } from "./protobuf.js";

/** @typedef {import("./protobuf.js").Format} Format */

/** The most bytes of a slice: below 1 MiB, the usual limit of a message, because options come along. */
export const MOST_BYTES = 1_000_000;

/** The most bytes and lines of a slice for this server, as far as they are known. */
const most = { bytes: MOST_BYTES, lines: 16_000 };

/** What of a message is kept for options and a heading, if it is no more than half of it. */
const ROOM = { bytes: 48_576, lines: 384 };

/** The most requests of a file that wait for answers. */
export const IN_FLIGHT = 4;

/**
 * Some whole lines of a file.
 * @typedef {object} Slice
 * @property {Blob} text
 * @property {number} start its first byte in the file
 * @property {number} end the byte behind it
 * @property {number} firstLine the number of its first line, from 1
 * @property {number} lines
 * @property {number} puzzleLines lines that are neither blank nor comments, nor `sep=;` above all others
 * @property {boolean} isLast
 */

/** The codes of the errors of a text without a puzzle, and of one whose first line is no block size. */
const EMPTY = 2;
const INVALID_BLOCK_SIZE = 1;

const LINE_END = 10;

/** The bytes by which a file is known. */
const HEAD_BYTES = 65_536;

const UNPACK = "Unpack it, or solve it with the program sudoku.";
const SOLVE = "Solve it with the program sudoku.";

/**
 * What the page does not read, by the first bytes, and what to do with it.
 * @type {[RegExp, string, string][]}
 */
const UNREAD = [
  [/^PK(\x03\x04|\x05\x06|\x07\x08)/, "is a zip archive", UNPACK],
  [/^(\x28\xb5\x2f\xfd|[\x50-\x5f]\x2a\x4d\x18)/, "is a Zstandard file", UNPACK],
  [/^BZh/, "is a bzip2 file", UNPACK],
  [/^\xfd7zXZ\0/, "is an xz file", UNPACK],
  [/^\x93NUMPY/, "is a NumPy array", SOLVE],
  [/^PAR1/, "is a Parquet file", SOLVE],
  [/^<(\?xml|opensudoku)/, "is XML", "If it is a file of OpenSudoku, solve it with the program sudoku."],
  [/^https?:\/\//, "has addresses", SOLVE],
  [/^[.1-9]{729}\s*(\n|$)/, "has candidates", "Read it with sudoku hint, steps or show."],
];

/**
 * The text of a file as UTF-8: unpacked if it is gzip, decoded if it is UTF-16.
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<Blob>}
 */
export async function textOf(file, signal) {
  const bytes = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
  const [first, second, third, fourth] = bytes;
  if (first === 0x1f && second === 0x8b) {
    return textOf(new File(await unzipped(file, signal), file.name), signal);
  }
  const isLittle = (first === 0xff && second === 0xfe) || (first && second === 0 && third && fourth === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second && third === 0 && fourth);
  if (isLittle || isBig) {
    const decoder = new TextDecoderStream(isLittle ? "utf-16le" : "utf-16be");
    const text = file.stream().pipeThrough(decoder).pipeThrough(new TextEncoderStream());
    return new Response(text).blob();
  }
  refuseUnread(bytes, file.name);
  return file;
}

/**
 * Refuses what is no text, and text that only the program `sudoku` reads.
 * @param {Uint8Array} bytes the first bytes of a file
 * @param {string} name
 */
function refuseUnread(bytes, name) {
  const head = String.fromCharCode(...bytes.subarray(0, 4_096)).replace(/^\xef\xbb\xbf/, "");
  const text = head.replace(/^(?:[ \t\f\r]*(?:#[^\n]*)?\n)*/, "").trimStart();
  for (const [pattern, what, advice] of UNREAD) {
    if (pattern.test(text)) {
      throw new CallError("invalid_argument", `${name} ${what}, which the page does not read. ${advice}`);
    }
  }
  // Those that begin and end on a line are up to the server.
  const line = /^\[[[\s\d"'nN-][^\n]*\n|^\[\n/.exec(text)?.[0] ?? "";
  if (line.split("[").length > line.split("]").length) {
    const what = "has arrays of several lines";
    throw new CallError("invalid_argument", `${name} ${what}, which the page does not read. ${SOLVE}`);
  }
  const zero = bytes.indexOf(0);
  if (zero >= 0) {
    throw new CallError("invalid_argument", `${name} is no text: it has a zero byte at offset ${zero}.`);
  }
}

/**
 * @param {Blob} packed
 * @param {AbortSignal} signal
 */
function unpacked(packed, signal) {
  return new Response(packed.stream().pipeThrough(new DecompressionStream("gzip"), { signal })).blob();
}

/**
 * The places in a row at which a member of a gzip file may end and does not: more are no accident, and
 * each costs as much time as unpacking all before it.
 */
const MOST_FALSE_ENDS = 64;

/**
 * The content of a gzip file, which may have several members. The browser unpacks one, and does not
 * say where it ends, so that is tried wherever another one may begin.
 * @param {File} file
 * @param {AbortSignal} signal
 * @returns {Promise<Blob[]>}
 */
async function unzipped(file, signal) {
  const whole = await unpacked(file, signal).catch(() => null);
  if (whole) return [whole];
  const bytes = new Uint8Array(await file.arrayBuffer());
  const members = [];
  let start = 0;
  let at = 0;
  let falseEnds = 0;
  do {
    at = bytes.indexOf(0x1f, at + 1);
    if (at >= 0 && (bytes[at + 1] !== 0x8b || bytes[at + 2] !== 8)) continue;
    const end = at < 0 ? bytes.length : at;
    signal.throwIfAborted();
    const member = await unpacked(file.slice(start, end), signal).catch(() => null);
    falseEnds = member ? 0 : falseEnds + 1;
    if (!member) continue;
    members.push(member);
    start = end;
  } while (at >= 0 && falseEnds <= MOST_FALSE_ENDS);
  signal.throwIfAborted();
  if (start < bytes.length) {
    throw new CallError("invalid_argument", `${file.name} is no whole gzip file: it cannot be unpacked.`);
  }
  return members;
}

/**
 * What went wrong while a file was read, in words.
 * @param {unknown} error
 * @param {string} name the name of the file
 */
export function readingFailure(error, name) {
  if (error instanceof CallError) return error.message;
  // One that was deleted is not found.
  const hasChanged = error instanceof DOMException && /^Not(Readable|Found)Error$/.test(error.name);
  if (hasChanged) return `${name} cannot be read: perhaps it has changed since. Open it again.`;
  return `${name} cannot be read: ${error}`;
}

/**
 * Sends slices, and again smaller ones for as long as the server refuses them as too long.
 * @template T
 * @param {() => Promise<T>} send
 * @returns {Promise<T>}
 */
export async function withinLimits(send) {
  for (;;) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof CallError && error.limit)) throw error;
      const { unit, value } = error.limit;
      const fitting = Math.max(1, Math.floor(Math.max(value - ROOM[unit], value / 2)));
      const less = fitting < most[unit] ? fitting : Math.floor(most[unit] / 2);
      if (!(less > 0)) throw error;
      most[unit] = less;
    }
  }
}

/**
 * The slices of a file, in order.
 * @param {Blob} file
 * @param {(start: number) => number} [wanted] the bytes of the slice that begins there, which has more
 *   only for a long line, and fewer if the server takes fewer
 * @param {{start: number, firstLine: number}} [from] where the first slice begins
 * @returns {AsyncGenerator<Slice>}
 */
export async function* slicesOf(file, wanted = () => MOST_BYTES, from = { start: 0, firstLine: 1 }) {
  let { start, firstLine } = from;
  let size = wanted(start);
  while (start < file.size) {
    size = Math.min(size, most.bytes);
    const bytes = new Uint8Array(await file.slice(start, start + size).arrayBuffer());
    const isAll = start + bytes.length === file.size;
    const { end, lines, puzzleLines } = cut(bytes, isAll, start === 0);
    if (end === 0 && size < most.bytes) {
      size *= 2;
      continue;
    }
    if (end === 0) {
      throw new CallError(
        "invalid_argument",
        `Line ${firstLine} is longer than ${size.toLocaleString("en-US")} bytes, the most that is read.`,
      );
    }
    const isLast = start + end === file.size;
    // A part of the file, and not of `bytes`, because the browser then sends it from the disk.
    const text = file.slice(start, start + end);
    yield { text, start, end: start + end, firstLine, lines, puzzleLines, isLast };
    start += end;
    firstLine += lines;
    size = wanted(start);
  }
}

/**
 * The length of the byte-order mark at the beginning of a file in UTF-8.
 * @param {Uint8Array} bytes
 */
function bomLength(bytes) {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
}

/**
 * Where to cut some bytes: behind a line end, or at the end of the file.
 * @param {Uint8Array} bytes
 * @param {boolean} isAll whether the file ends with them
 * @param {boolean} isBeginning whether the file begins with them
 */
function cut(bytes, isAll, isBeginning) {
  const bom = isBeginning ? bomLength(bytes) : 0;
  let end = 0;
  let lines = 0;
  let puzzleLines = 0;
  while (end < bytes.length && lines < most.lines) {
    const lineEnd = bytes.indexOf(LINE_END, end);
    if (lineEnd < 0 && !isAll) break;
    const start = end || bom;
    end = lineEnd < 0 ? bytes.length : lineEnd + 1;
    const isAbove = isBeginning && puzzleLines === 0;
    if (isPuzzleLine(bytes, start) && !(isAbove && isExcelLine(bytes.subarray(start, end)))) puzzleLines++;
    lines++;
  }
  return { end, lines, puzzleLines };
}

/**
 * Whether a line is neither blank nor a comment, by its first character.
 * @param {Uint8Array} bytes
 * @param {number} start
 */
function isPuzzleLine(bytes, start) {
  const first = bytes[start];
  // Most lines end the question here; only blanks and comments are looked at more closely.
  if (first > 35) return true;
  let at = start;
  while (at < bytes.length && [32, 9, 12, 13].includes(bytes[at])) at++;
  return at < bytes.length && bytes[at] !== LINE_END && bytes[at] !== 35;
}

/**
 * Whether a line is one such as `sep=;`, which Excel reads and writes above a table.
 * @param {Uint8Array} line
 */
function isExcelLine(line) {
  return line.length < 64 && /^\s*sep=\S?\s*$/i.test(String.fromCharCode(...line));
}

/** The longest heading that is put before a slice, so that both are within a message. */
const MOST_HEADING_BYTES = 32_000;

/**
 * What stands above the puzzles of a file.
 * @typedef {object} Beginning
 * @property {number} end the byte behind it
 * @property {number} lines
 * @property {number} headings the headers and headings among them, one at most
 * @property {Blob | null} heading the heading of a table with its line end; null for a very long one
 */

/**
 * What stands above the puzzles of a file, whose first slice this is: blank lines and comments, and the
 * first other line, if it is no puzzle.
 * @param {Slice} slice
 * @param {Format} format
 * @param {number} puzzles the puzzles of the slice
 * @returns {Promise<Beginning>}
 */
export async function beginningOf(slice, format, puzzles) {
  const bytes = new Uint8Array(await slice.text.arrayBuffer());
  let start = bomLength(bytes);
  let lines = 0;
  /** @param {number} at */
  const endOfLine = (at) => bytes.indexOf(LINE_END, at) + 1 || bytes.length;
  const isPuzzle = () => {
    return isPuzzleLine(bytes, start) && !isExcelLine(bytes.subarray(start, endOfLine(start)));
  };
  while (start < bytes.length && !isPuzzle()) {
    start = endOfLine(start);
    lines++;
  }
  const end = endOfLine(start);
  if (format.notation === NOTATION.HEADER) return { end, lines: lines + 1, headings: 1, heading: null };
  // Only the rows of a table have a delimiter, and each is a puzzle.
  if (!format.delimiter || slice.puzzleLines - puzzles !== 1) {
    return { end: start, lines, headings: 0, heading: null };
  }
  const heading = end - start > MOST_HEADING_BYTES ? null : slice.text.slice(start, end);
  return { end, lines: lines + 1, headings: 1, heading };
}

/**
 * Refuses a file of several slices in which a puzzle may be on both sides of a cut.
 * @param {number} notation
 */
export function refuseParts(notation) {
  const name = SEVERAL_LINES_A_PUZZLE.get(notation);
  if (!name) return;
  const bytes = most.bytes.toLocaleString("en-US");
  const lines = most.lines.toLocaleString("en-US");
  throw new CallError(
    "invalid_argument",
    `A puzzle takes several lines in the notation ${name}, and such a file is read ` +
      `up to ${bytes} bytes and ${lines} lines. Solve this one with the program sudoku.`,
  );
}

/** The most errors of a file that are listed. */
export const MOST_ERRORS = 100;

/**
 * Validates the first slice of a file and detects the format.
 * @param {string} name the name of the file
 * @param {Slice} slice
 * @param {AbortSignal} signal
 * @param {boolean} isWhole whether the file is this slice
 */
export async function validateFirst(name, slice, signal, isWhole) {
  const request = validateRequest(slice.text, null, 1, MOST_ERRORS);
  const response = readValidateResponse(await callBinary("Validate", request, signal));
  if (!isWhole) refuseParts(response.format?.notation ?? 0);
  const [first] = response.errors;
  if (first?.code === EMPTY) first.message = `${name} is empty.`;
  // It may be something else, which options of the server decide.
  if (first?.code === INVALID_BLOCK_SIZE && first.message.includes("options.")) {
    first.message =
      "Invalid block size. If the first line is the number of puzzles, delete it. " +
      "If each line is a puzzle of 1x1, solve it with the program sudoku and --notation lines.";
  }
  return { ...response, error: first?.message ?? null };
}
