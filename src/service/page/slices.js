/**
 * A file as the server takes it: in slices of whole lines, within the limits of a message.
 *
 * Runs in workers, so that reading a long file never delays a frame of the page.
 */

import { CallError, callBinary } from "./api.js";
import { NOTATION, SEVERAL_LINES_A_PUZZLE, readValidateResponse, validateRequest } from "./protobuf.js";

/** @typedef {import("./protobuf.js").Format} Format */

/** The most bytes of a slice: below 1 MiB, the limit of a message, because options come along. */
export const MOST_BYTES = 1_000_000;

/** The most lines of a slice: below 16,384, the limit of a message. */
const MOST_LINES = 16_000;

/** The most requests of a file that wait for answers. */
export const IN_FLIGHT = 4;

/**
 * Some whole lines of a file.
 * @typedef {object} Slice
 * @property {Blob} text
 * @property {number} start its first byte in the file
 * @property {number} end the byte behind it
 * @property {number} firstLine the number of its first line, from 1
 * @property {number} puzzleLines lines that are neither blank nor comments
 * @property {boolean} isLast
 */

/** The code of the error of a text without a puzzle. */
const EMPTY = 2;

const LINE_END = 10;

/**
 * The text of a file as UTF-8: unpacked if it is gzip, decoded if it is UTF-16.
 * @param {Blob} file
 * @returns {Promise<Blob>}
 */
export async function textOf(file) {
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  if (first === 0x1f && second === 0x8b) {
    const unpacked = file.stream().pipeThrough(new DecompressionStream("gzip"));
    try {
      return await new Response(unpacked).blob();
    } catch {
      throw new CallError("invalid_argument", "The file is no whole gzip file: it cannot be unpacked.");
    }
  }
  const bom = first * 256 + second;
  if (bom === 0xfffe || bom === 0xfeff) {
    const decoder = new TextDecoderStream(bom === 0xfffe ? "utf-16le" : "utf-16be");
    const text = file.stream().pipeThrough(decoder).pipeThrough(new TextEncoderStream());
    return new Response(text).blob();
  }
  return file;
}

/**
 * The slices of a file, in order.
 * @param {Blob} file
 * @param {() => number} [wanted] the bytes of the next slice, which has more only for a long line
 * @returns {AsyncGenerator<Slice>}
 */
export async function* slicesOf(file, wanted = () => MOST_BYTES) {
  let start = 0;
  let firstLine = 1;
  let most = wanted();
  while (start < file.size) {
    const bytes = new Uint8Array(await file.slice(start, start + most).arrayBuffer());
    const isAll = start + bytes.length === file.size;
    const { end, lines, puzzleLines } = cut(bytes, isAll, start === 0 ? bomLength(bytes) : 0);
    if (end === 0 && most < MOST_BYTES) {
      most = Math.min(2 * most, MOST_BYTES);
      continue;
    }
    if (end === 0) {
      throw new CallError(
        "invalid_argument",
        `Line ${firstLine} is longer than ${most.toLocaleString("en-US")} bytes, the most that is read.`,
      );
    }
    const isLast = start + end === file.size;
    // A part of the file, and not of `bytes`, because the browser then sends it from the disk.
    const text = file.slice(start, start + end);
    yield { text, start, end: start + end, firstLine, puzzleLines, isLast };
    start += end;
    firstLine += lines;
    most = wanted();
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
 * @param {number} bom the length of the byte-order mark before the first line
 */
function cut(bytes, isAll, bom) {
  let end = 0;
  let lines = 0;
  let puzzleLines = 0;
  while (end < bytes.length && lines < MOST_LINES) {
    const lineEnd = bytes.indexOf(LINE_END, end);
    if (lineEnd < 0 && !isAll) break;
    if (isPuzzleLine(bytes, end || bom)) puzzleLines++;
    lines++;
    end = lineEnd < 0 ? bytes.length : lineEnd + 1;
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
 * A slice for methods that take it for a text of its own: one from the middle of a `header` file
 * gets the header again, and one from the middle of a table its heading.
 * @param {Blob} text
 * @param {number} firstLine
 * @param {Format} format
 * @param {Blob | null} [heading] the heading of a table, with its line end
 */
export function asTextOfItsOwn(text, firstLine, format, heading = null) {
  const above = format.notation === NOTATION.HEADER ? `${format.order}\n` : heading;
  if (!above || firstLine === 1) return { text, firstLine };
  return { text: new Blob([above, text]), firstLine: firstLine - 1 };
}

/** The longest heading that is put before a slice, so that both are within a message. */
const MOST_HEADING_BYTES = 32_000;

/**
 * The heading of a table with its line end, from the first slice of its file: the first line that is
 * neither blank nor a comment, if it is no puzzle. Null if there is none, or a very long one.
 * @param {Slice} slice
 * @param {Format} format
 * @param {number} puzzles the puzzles of the slice
 * @returns {Promise<Blob | null>}
 */
export async function headingOf(slice, format, puzzles) {
  // Only the rows of a table have a delimiter, and each is a puzzle.
  if (!format.delimiter || slice.puzzleLines - puzzles !== 1) return null;
  const bytes = new Uint8Array(await slice.text.arrayBuffer());
  let start = bomLength(bytes);
  while (start < bytes.length) {
    const lineEnd = bytes.indexOf(LINE_END, start);
    // A heading without a line below it is before no other slice.
    if (lineEnd < 0) return null;
    if (isPuzzleLine(bytes, start)) {
      const end = lineEnd + 1;
      return end - start > MOST_HEADING_BYTES ? null : slice.text.slice(start, end);
    }
    start = lineEnd + 1;
  }
  return null;
}

/**
 * Refuses a file of several slices in which a puzzle may be on both sides of a cut.
 * @param {number} notation
 */
export function refuseParts(notation) {
  const name = SEVERAL_LINES_A_PUZZLE.get(notation);
  if (!name) return;
  const bytes = MOST_BYTES.toLocaleString("en-US");
  const lines = MOST_LINES.toLocaleString("en-US");
  throw new CallError(
    "invalid_argument",
    `A puzzle takes several lines in the notation ${name}, and such a file is read ` +
      `up to ${bytes} bytes and ${lines} lines. Solve this one with the program sudoku.`,
  );
}

/**
 * Validates the first slice of a file and detects the format.
 * @param {string} name the name of the file
 * @param {Slice} slice
 * @param {AbortSignal} signal
 * @param {boolean} isWhole whether the file is this slice
 * @returns {Promise<{format: Format | null, puzzles: number, error: string | null}>}
 */
export async function validateFirst(name, slice, signal, isWhole) {
  const response = readValidateResponse(
    await callBinary("Validate", validateRequest(slice.text, null, 1), signal),
  );
  const notation = response.format?.notation ?? 0;
  if (!isWhole) refuseParts(notation);
  const [first] = response.errors;
  const error = first ? (first.code === EMPTY ? `${name} is empty.` : first.message) : null;
  return { format: response.format, puzzles: response.puzzles, error };
}
