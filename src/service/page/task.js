/**
 * Work that a button starts: one at a time, and stopped once it is obsolete.
 *
 * A button has one request at a time. What was asked about a board is worth nothing once the board
 * has changed, so such work is aborted then.
 */

import { CallError } from "./api.js";

/** Controllers of the work that is about the board as it is. @type {Set<AbortController>} */
const aboutBoard = new Set();

/** The controls at work. @type {Set<HTMLElement>} */
const busy = new Set();

/**
 * Whether the work of a control runs.
 * @param {HTMLElement} button
 */
export function isBusy(button) {
  return busy.has(button);
}

/**
 * Runs the work of a control, unless it runs already.
 * @param {HTMLElement} button
 * @param {(signal: AbortSignal) => Promise<void>} work
 * @param {object} options
 * @param {(message: string) => void} options.fail told about what went wrong
 * @param {boolean} [options.outlivesBoard] whether a change of the board leaves it alone
 */
export async function run(button, work, { fail, outlivesBoard = false }) {
  if (busy.has(button)) return;
  const controller = new AbortController();
  if (!outlivesBoard) aboutBoard.add(controller);
  busy.add(button);
  // What went wrong before may not go wrong now.
  fail("");
  button.setAttribute("aria-busy", "true");
  try {
    await work(controller.signal);
  } catch (error) {
    if (!isAbort(error)) fail(messageOf(error));
  } finally {
    aboutBoard.delete(controller);
    busy.delete(button);
    button.removeAttribute("aria-busy");
  }
}

/** Aborts all work that is about the board as it was. */
export function boardChanged() {
  for (const controller of aboutBoard) controller.abort();
  aboutBoard.clear();
}

/**
 * Whether an error only says that work was stopped.
 * @param {unknown} error
 */
export function isAbort(error) {
  return error instanceof DOMException && error.name === "AbortError";
}

/**
 * An error in words.
 * @param {unknown} error
 */
export function messageOf(error) {
  if (error instanceof CallError) return error.message;
  console.error(error);
  return `The page failed: ${error instanceof Error ? error.message : error}. Reload it, and try again.`;
}
