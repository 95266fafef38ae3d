/**
 * The messages that carry whole files, in protobuf: JSON would make a third more of their bytes.
 *
 * Requests are blobs, so slices of a file are never copied for them. Field numbers are those of
 * `proto/sudoku/v1/sudoku.proto`.
 */

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Notations that the page treats in a way of their own, with their numbers; puzzles in any other
 * are on lines, whatever else is there.
 */
export const NOTATION = { LINES: 1, HEADER: 2, GRID: 3, TRIPLES: 4 };

/** Notations of which a puzzle may take several lines, with their names as in the documents. */
export const SEVERAL_LINES_A_PUZZLE = new Map([
  [NOTATION.GRID, "grid"],
  [NOTATION.TRIPLES, "triples"],
]);

/**
 * A format, given or detected.
 * @typedef {object} Format
 * @property {number} notation
 * @property {string} alphabet
 * @property {number} order
 * @property {string} column
 * @property {string} delimiter
 */

/**
 * The error of a puzzle.
 * @typedef {object} PuzzleError
 * @property {number} code
 * @property {string} message
 * @property {number} line
 */

/** Bytes of a message. @typedef {Uint8Array<ArrayBuffer>} Bytes */

/**
 * @param {number} value
 * @returns {number[]}
 */
function varint(value) {
  const bytes = [];
  while (value > 127) {
    bytes.push((value % 128) | 128);
    value = Math.floor(value / 128);
  }
  bytes.push(value);
  return bytes;
}

/**
 * A number; nothing for 0, which is the default.
 * @param {number} field
 * @param {number} value
 * @returns {Bytes[]}
 */
function uint(field, value) {
  return value ? [Uint8Array.of(field << 3, ...varint(value))] : [];
}

/**
 * Bytes, a string or a message; nothing for an empty one.
 * @param {number} field
 * @param {Bytes | Blob | string} value
 * @returns {BlobPart[]}
 */
function bytes(field, value) {
  const content = typeof value === "string" ? encoder.encode(value) : value;
  const length = content instanceof Blob ? content.size : content.length;
  return length ? [Uint8Array.of((field << 3) | 2, ...varint(length)), content] : [];
}

/**
 * The fields of a message: numbers, or bytes that share memory with the message.
 * @param {Bytes} message
 * @returns {Generator<{field: number, number: number, bytes: Bytes}>}
 */
function* fieldsOf(message) {
  let at = 0;
  const next = () => {
    let value = 0;
    let factor = 1;
    while (at < message.length) {
      const byte = message[at++];
      value += (byte & 127) * factor;
      if (byte < 128) break;
      factor *= 128;
    }
    return value;
  };
  const nothing = new Uint8Array(0);
  while (at < message.length) {
    const key = next();
    const field = Math.floor(key / 8);
    switch (key % 8) {
      case 0:
        yield { field, number: next(), bytes: nothing };
        break;
      case 2: {
        const length = next();
        yield { field, number: 0, bytes: message.subarray(at, at + length) };
        at += length;
        break;
      }
      default:
        // Fixed numbers: no message here has one, but a later server may add some.
        at += key % 8 === 1 ? 8 : 4;
    }
  }
}

/** @param {Format} format */
function textOptions({ notation, alphabet, order, column, delimiter }) {
  return new Blob([
    ...uint(1, notation),
    ...bytes(2, alphabet),
    ...uint(3, order),
    ...bytes(4, column),
    ...bytes(5, delimiter),
  ]);
}

/**
 * @param {Bytes} message
 * @returns {Format}
 */
function readTextOptions(message) {
  const format = { notation: 0, alphabet: "", order: 0, column: "", delimiter: "" };
  for (const { field, number, bytes } of fieldsOf(message)) {
    if (field === 1) format.notation = number;
    else if (field === 2) format.alphabet = decoder.decode(bytes);
    else if (field === 3) format.order = number;
    else if (field === 4) format.column = decoder.decode(bytes);
    else if (field === 5) format.delimiter = decoder.decode(bytes);
  }
  return format;
}

/**
 * @param {Bytes} message
 * @returns {PuzzleError}
 */
function readPuzzleError(message) {
  const error = { code: 0, message: "", line: 0 };
  for (const { field, number, bytes } of fieldsOf(message)) {
    if (field === 1) error.code = number;
    else if (field === 2) error.message = decoder.decode(bytes);
    else if (field === 3) error.line = number;
  }
  return error;
}

/**
 * A ValidateRequest.
 * @param {Blob} text
 * @param {Format | null} format
 * @param {number} firstLine
 * @param {number} errorLimit
 */
export function validateRequest(text, format, firstLine, errorLimit) {
  return new Blob([
    ...(format ? bytes(1, textOptions(format)) : []),
    ...bytes(2, text),
    ...uint(3, errorLimit),
    ...uint(5, firstLine),
  ]);
}

/**
 * Reads a ValidateResponse.
 * @param {Bytes} message
 */
export function readValidateResponse(message) {
  const response = {
    puzzles: 0,
    badPuzzles: 0,
    errors: /** @type {PuzzleError[]} */ ([]),
    format: /** @type {Format | null} */ (null),
  };
  for (const { field, number, bytes } of fieldsOf(message)) {
    if (field === 2) response.puzzles = number;
    else if (field === 3) response.badPuzzles = number;
    else if (field === 4) response.errors.push(readPuzzleError(bytes));
    else if (field === 5) response.format = readTextOptions(bytes);
  }
  return response;
}

/**
 * A GetPuzzleRequest for a text.
 * @param {Blob} text
 * @param {Format} format
 * @param {number} index from 1
 * @param {number} firstLine
 */
export function getPuzzleRequest(text, format, index, firstLine) {
  return new Blob([
    ...bytes(2, textOptions(format)),
    ...uint(3, index),
    ...bytes(4, text),
    ...uint(6, firstLine),
  ]);
}

/**
 * Reads a GetPuzzleResponse.
 * @param {Bytes} message
 */
export function readGetPuzzleResponse(message) {
  const response = { line: 0, puzzle: "", order: 0, alphabet: "" };
  for (const { field, number, bytes } of fieldsOf(message)) {
    if (field === 3) response.line = number;
    else if (field === 4) response.puzzle = decoder.decode(bytes);
    else if (field === 5) response.order = number;
    else if (field === 6) response.alphabet = readTextOptions(bytes).alphabet;
  }
  return response;
}

/**
 * The task of a bulk run.
 * @typedef {object} BulkTask
 * @property {number} question
 * @property {number} output the form of the answers
 * @property {number} countLimit
 */

/**
 * A SolveLinesRequest.
 * @param {Blob} lines
 * @param {Format} format
 * @param {BulkTask} task
 * @param {number} firstLine
 * @param {boolean | null} hasHeading whether the first line is a header or heading; null if the server is
 *   to detect that
 */
export function solveLinesRequest(lines, format, task, firstLine, hasHeading) {
  const options = new Blob([
    ...uint(2, task.question),
    ...uint(3, task.countLimit),
    ...uint(5, format.notation),
    ...bytes(6, format.alphabet),
    ...uint(7, format.order),
    ...uint(8, task.output),
    ...bytes(10, format.column),
    ...bytes(11, format.delimiter),
    ...(hasHeading === null ? [] : [Uint8Array.of(13 << 3, Number(hasHeading))]),
  ]);
  return new Blob([...bytes(1, options), ...bytes(2, lines), ...uint(3, firstLine)]);
}

/**
 * Reads a SolveLinesResponse. The lines share memory with the message.
 * @param {Bytes} message
 */
export function readSolveLinesResponse(message) {
  const response = { lines: new Uint8Array(0), answers: 0, errors: 0 };
  for (const { field, bytes } of fieldsOf(message)) {
    if (field === 1) response.lines = bytes;
    else if (field === 2) {
      for (const entry of fieldsOf(bytes)) {
        if (entry.field === 1) response.answers = entry.number;
        else if (entry.field === 2) {
          for (const error of fieldsOf(entry.bytes)) {
            if (error.field === 2) response.errors += error.number;
          }
        }
      }
    }
  }
  return response;
}
