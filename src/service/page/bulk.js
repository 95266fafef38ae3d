/** Bulk: a list goes in, progress and errors are shown, and the answers come out as a file. */

import { button, byId, count, download, make, plural } from "./dom.js";
import { startWorker } from "./workers.js";

const controls = {
  choose: button("bulk-open"),
  stop: button("bulk-stop"),
  download: button("bulk-download"),
  question: byId("bulk-question", HTMLSelectElement),
  output: byId("bulk-output", HTMLSelectElement),
};
const progress = byId("bulk-progress", HTMLProgressElement);
const status = byId("bulk-status", HTMLElement);
const errorBox = byId("bulk-error-box", HTMLElement);
const errorList = byId("bulk-error-list", HTMLOListElement);

/**
 * A run.
 * @typedef {object} Run
 * @property {string} name the name of the file of answers
 * @property {number} started
 * @property {number} ended 0 while it runs
 * @property {Blob[]} answers
 * @property {number} answered
 * @property {number} errors
 */

/** @type {Run | null} */
let run = null;

/** @type {Worker | null} */
let worker = null;

/** Whether figures are drawn with the next frame. */
let isDue = false;

/** The suffix of answers, by their form. @type {Record<string, string>} */
const SUFFIXES = { 1: "solutions.txt", 2: "pairs.txt", 4: "answers.jsonl" };

/**
 * Solves a list.
 * @param {File} file
 */
export function take(file) {
  if (run && !run.ended) {
    say("A list is being solved. Stop it before you start another one.", "bad");
    return;
  }
  const stem = file.name.replace(/(\.[a-z0-9]+)*$/i, "") || "list";
  run = {
    name: `${stem}-${SUFFIXES[controls.output.value]}`,
    started: performance.now(),
    ended: 0,
    answers: [],
    answered: 0,
    errors: 0,
  };
  byId("bulk-failure", HTMLElement).textContent = "";
  byId("bulk-run", HTMLElement).hidden = false;
  byId("bulk-name", HTMLElement).textContent = file.name;
  byId("bulk-size", HTMLElement).textContent = plural(file.size, "byte");
  errorList.replaceChildren();
  progress.value = 0;
  say("");
  worker ??= startWorker("bulk_worker.js", receive, () => (worker = null));
  const task = {
    question: Number(controls.question.value),
    output: Number(controls.output.value),
    countLimit: 0,
  };
  worker.postMessage({ type: "solve", file, task });
  draw();
}

/** @param {any} message */
function receive(message) {
  if (!run) return;
  if (message.type === "answers") {
    run.answers.push(message.lines);
    run.answered = message.answers;
    run.errors = message.errors;
    progress.value = message.bytes / message.all;
    const listed = message.errorLines.slice(errorList.children.length);
    errorList.append(...listed.map((/** @type {string} */ line) => make("li", {}, line)));
    if (!isDue) {
      isDue = true;
      requestAnimationFrame(draw);
    }
    return;
  }
  run.ended = performance.now();
  const seconds = ((run.ended - run.started) / 1000).toFixed(2);
  if (message.type === "done") {
    progress.value = 1;
    const isBad = run.errors === run.answered;
    const errors = isBad ? ", all of them errors" : "";
    say(`Done: ${plural(run.answered, "answer")} in ${seconds} s${errors}.`, isBad ? "bad" : "good");
  } else if (message.isStopped) {
    const answers = `Stopped after ${plural(run.answered, "answer")}. They can be downloaded.`;
    say(run.answered ? answers : "Stopped before the first answer.");
  } else {
    say(message.message, "bad");
  }
  draw();
}

/**
 * @param {string} text
 * @param {"" | "good" | "bad"} [kind]
 */
function say(text, kind = "") {
  status.textContent = text;
  status.dataset.kind = kind;
}

function draw() {
  isDue = false;
  if (!run) return;
  const seconds = ((run.ended || performance.now()) - run.started) / 1000;
  const figures = {
    puzzles: run.answered,
    solved: run.answered - run.errors,
    errors: run.errors,
    rate: Math.round(run.answered / seconds),
  };
  for (const [name, figure] of Object.entries(figures)) {
    byId(`bulk-${name}`, HTMLElement).textContent = count(figure);
  }
  controls.stop.disabled = run.ended > 0;
  controls.choose.disabled = !run.ended;
  controls.download.disabled = run.answers.length === 0 || !run.ended;
  errorBox.hidden = run.errors === 0;
  const listed = errorList.children.length;
  byId("bulk-error-title", HTMLElement).textContent =
    listed < run.errors
      ? `The first ${count(listed)} of ${plural(run.errors, "error")}`
      : plural(run.errors, "error");
}

/** Wires the controls. */
export function start() {
  controls.stop.addEventListener("click", () => worker?.postMessage({ type: "stop" }));
  controls.download.addEventListener("click", () => run && download(new Blob(run.answers), run.name));
}
