/** Solutions of puzzles, each asked for once. */

import { call } from "./api.js";
import { LETTERS, textOf, valuesOf } from "./grid.js";

/** @typedef {import("./history.js").Position} Position */
/** @typedef {import("./grid.js").Shape} Shape */

/**
 * What is known of the solutions of a puzzle.
 * @typedef {object} Solved
 * @property {Uint8Array | null} cells a solution, if there is one
 * @property {boolean} isOnly whether there is no other
 * @property {string} message
 */

/** What is known, by the clues. @type {WeakMap<Uint8Array, Solved>} */
const known = new WeakMap();

/**
 * The format of texts that the page itself writes.
 * @param {Shape} shape
 */
export function ownFormat(shape) {
  return { notation: "NOTATION_LINES", alphabet: "letters", order: shape.order };
}

/**
 * What is known of a puzzle so far.
 * @param {Position} position
 */
export function knownSolution({ clues }) {
  return known.get(clues);
}

/**
 * Asks for a solution of these cells.
 * @param {Shape} shape
 * @param {Uint8Array} cells
 * @param {"QUESTION_FIRST" | "QUESTION_UNIQUE"} question
 * @param {AbortSignal} signal
 */
export async function ask(shape, cells, question, signal) {
  const options = { ...ownFormat(shape), question };
  const { answers } = await call("Solve", { options, puzzle: textOf(cells) }, { signal });
  return /** @type {{solution?: string, error?: {code: string, message: string}}} */ (answers[0]);
}

/**
 * A solution of the clues, whatever was entered, and whether it is the only one.
 * @param {Position} position
 * @param {AbortSignal} signal
 * @returns {Promise<Solved>}
 */
export async function solutionOf({ shape, clues }, signal) {
  const before = known.get(clues);
  if (before) return before;
  let answer = await ask(shape, clues, "QUESTION_UNIQUE", signal);
  let message = "Solved. There is no other solution.";
  const { code, message: reason = "" } = answer.error ?? {};
  const isOpen = code === "ERROR_CODE_GAVE_UP";
  if (isOpen || code === "ERROR_CODE_NOT_UNIQUE") {
    answer = await ask(shape, clues, "QUESTION_FIRST", signal);
    message = isOpen
      ? `This is a solution. Whether there are more is not known: ${reason}`
      : "This is one of several solutions.";
  }
  const { solution, error } = answer;
  const found = {
    cells: solution === undefined ? null : valuesOf(solution, LETTERS),
    isOnly: code === undefined,
    message: solution === undefined ? (error?.message ?? "The server gave no answer.") : message,
  };
  if (!isOpen) known.set(clues, found);
  return found;
}
