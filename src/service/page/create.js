/** New puzzles: the dialog with the wishes, and the call that makes one. */

import { CallError, stream } from "./api.js";
import { button, byId, wholeNumber } from "./dom.js";
import { LETTERS, valuesOf } from "./grid.js";
import { emptyBoard, puzzle } from "./history.js";
import * as page from "./page.js";
import { run } from "./task.js";

const dialog = byId("create-dialog", HTMLDialogElement);
const order = byId("create-order", HTMLSelectElement);
const clues = byId("create-clues", HTMLInputElement);
const seed = byId("create-seed", HTMLInputElement);
const error = byId("create-error", HTMLElement);
const go = button("create-go");

/** The largest seed. */
const MOST_SEED = 2n ** 64n - 1n;

/** Ends the call that runs. */
let calling = new AbortController();

function stop() {
  calling.abort();
  calling = new AbortController();
}

/** The request of the form, or null if a field is wrong. */
function request() {
  const most = Number(order.value) ** 4;
  clues.max = String(most);
  if (clues.value !== "" || clues.validity.badInput) {
    if (wholeNumber(clues) === null) {
      error.textContent = `Clues are a whole number from 0 to ${most}.`;
      clues.focus();
      return null;
    }
  }
  if (!seed.checkValidity() || BigInt(seed.value) > MOST_SEED) {
    error.textContent = `The seed is a whole number from 0 to ${MOST_SEED.toLocaleString("en-US")}.`;
    seed.focus();
    return null;
  }
  return {
    order: Number(order.value),
    count: "1",
    symmetry: byId("create-symmetry", HTMLSelectElement).value,
    difficulty: byId("create-difficulty", HTMLSelectElement).value,
    ...(clues.value ? { clues: Number(clues.value) } : {}),
    ...(seed.value ? { seed: seed.value } : {}),
  };
}

async function create() {
  error.textContent = "";
  const wanted = request();
  if (!wanted) return;
  go.textContent = "Making…";
  try {
    let lines = "";
    let used = seed.value;
    let givenUp = 0;
    for await (const message of stream("Generate", wanted, calling.signal)) {
      lines += atob(message.puzzles ?? "");
      used = message.seed ?? "0";
      givenUp = Number(message.givenUp ?? 0);
    }
    const line = lines.split("\n")[0];
    if (!line) {
      throw new CallError(
        "not_found",
        givenUp
          ? "No such puzzle was found. Try another seed, more clues, another symmetry or another difficulty."
          : "The server made no puzzle. Try again.",
      );
    }
    dialog.close();
    const next = puzzle(wanted.order, valuesOf(line, LETTERS), `New puzzle, seed ${used}`);
    page.load(next, `Here is a puzzle. Its seed is ${used}.`);
    page.board.focus();
  } finally {
    go.textContent = "Make puzzle";
  }
}

/** Wires the controls. */
export function start() {
  button("create").addEventListener("click", () => {
    error.textContent = "";
    dialog.showModal();
  });
  order.addEventListener("change", () => (clues.max = String(Number(order.value) ** 4)));
  byId("create-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    const fail = (/** @type {string} */ message) => (error.textContent = message);
    run(go, create, { fail, outlivesBoard: true });
  });
  button("create-cancel").addEventListener("click", () => dialog.close());
  button("create-empty").addEventListener("click", () => {
    dialog.close();
    page.load(emptyBoard(Number(order.value)), "Enter the clues cell by cell, 0 or . for a blank. Then solve, rate or play the puzzle.");
    page.board.focus();
  });
  dialog.addEventListener("close", stop);
}
