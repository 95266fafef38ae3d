/** New puzzles: the dialog with the wishes, and the call that makes one. */

import { CallError, stream } from "./api.js";
import { button, byId, make, wholeNumber } from "./dom.js";
import { LETTERS, valuesOf } from "./grid.js";
import { emptyBoard, puzzle } from "./history.js";
import * as page from "./page.js";
import { run } from "./task.js";
import { techniques } from "./techniques.js";

const dialog = byId("create-dialog", HTMLDialogElement);
const order = byId("create-order", HTMLSelectElement);
const clues = byId("create-clues", HTMLInputElement);
const seed = byId("create-seed", HTMLInputElement);
const least = byId("create-least", HTMLInputElement);
const most = byId("create-most", HTMLInputElement);
const technique = byId("create-technique", HTMLSelectElement);
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

/**
 * Says that a field is wrong, and leads there.
 * @param {HTMLInputElement} field
 * @param {string} what
 */
function wrong(field, what) {
  error.textContent = what;
  field.focus();
  return null;
}

/** The request of the form, or null if a field is wrong. */
function request() {
  const cells = Number(order.value) ** 4;
  clues.max = String(cells);
  if (clues.value !== "" || clues.validity.badInput) {
    if (wholeNumber(clues) === null) {
      return wrong(clues, `Clues are a whole number from 0 to ${cells}.`);
    }
  }
  if (!seed.checkValidity() || BigInt(seed.value) > MOST_SEED) {
    return wrong(seed, `The seed is a whole number from 0 to ${MOST_SEED.toLocaleString("en-US")}.`);
  }
  for (const field of [least, most]) {
    if (!field.checkValidity()) return wrong(field, "Ratings are 1.0 to 20.0, with at most one decimal.");
  }
  return {
    order: Number(order.value),
    count: "1",
    symmetry: byId("create-symmetry", HTMLSelectElement).value,
    difficulty: byId("create-difficulty", HTMLSelectElement).value,
    ...(clues.value ? { clues: Number(clues.value) } : {}),
    ...(seed.value ? { seed: seed.value } : {}),
    ...(least.value ? { leastRatingTenths: Math.round(10 * least.valueAsNumber) } : {}),
    ...(most.value ? { mostRatingTenths: Math.round(10 * most.valueAsNumber) } : {}),
    ...(technique.value ? { technique: technique.value } : {}),
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

/** Offers the techniques, once they are known. */
async function offerTechniques() {
  if (technique.options.length > 1) return;
  const all = await techniques();
  technique.append(
    ...all.map(({ name, title, ratingTenths }) =>
      make("option", { value: name }, `${title}, ${(ratingTenths / 10).toFixed(1)}`),
    ),
  );
}

/** Wires the controls. */
export function start() {
  button("create").addEventListener("click", () => {
    error.textContent = "";
    offerTechniques();
    dialog.showModal();
  });
  order.addEventListener("change", () => (clues.max = String(Number(order.value) ** 4)));
  const form = byId("create-form", HTMLFormElement);
  form.addEventListener("input", () => (error.textContent = ""));
  form.addEventListener("submit", (event) => {
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
