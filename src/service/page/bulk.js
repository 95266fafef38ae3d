/** Bulk: a list goes in, progress and errors are shown, and the answers come out as a file. */

import { button, byId, count, download, make, plural } from "./dom.js";
import { startWorker } from "./workers.js";

const controls = {
  choose: button("bulk-open"),
  stop: button("bulk-stop"),
  goOn: button("bulk-continue"),
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
 * @property {string} stem the name of the list without its suffixes
 * @property {string} suffix that of the file of answers
 * @property {number} started when it began, or went on
 * @property {number} spent the milliseconds that it ran before
 * @property {"running" | "partial" | "done"} state
 * @property {boolean} canContinue
 * @property {Blob[]} answers
 * @property {number} answered
 * @property {number} errors
 * @property {number} line the last line that is answered
 * @property {number} share the share of the list that is answered
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
  if (run?.state === "running") {
    say("A list is being solved. Stop it before you start another one.", "bad");
    return;
  }
  const stem = file.name.replace(/(\.[a-z0-9]+)*$/i, "") || "list";
  run = {
    stem,
    suffix: SUFFIXES[controls.output.value],
    started: performance.now(),
    spent: 0,
    state: "running",
    canContinue: false,
    answers: [],
    answered: 0,
    errors: 0,
    line: 0,
    share: 0,
  };
  byId("bulk-failure", HTMLElement).textContent = "";
  byId("bulk-run", HTMLElement).hidden = false;
  byId("bulk-name", HTMLElement).textContent = file.name;
  byId("bulk-size", HTMLElement).textContent = plural(file.size, "byte");
  errorList.replaceChildren();
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

/** Goes on with a list that was stopped, or whose server went away. */
function goOn() {
  if (!run || !worker) return;
  run.state = "running";
  run.started = performance.now();
  say("");
  worker.postMessage({ type: "continue" });
  draw();
}

/** @param {any} message */
function receive(message) {
  if (!run) return;
  if (message.type === "answers") {
    const { lines, answers, errors, errorLines, line, share } = message;
    run.answers.push(lines);
    Object.assign(run, { answered: answers, errors, line, share });
    const listed = errorLines.slice(errorList.children.length);
    errorList.append(...listed.map((/** @type {string} */ line) => make("li", {}, line)));
    if (!isDue) {
      isDue = true;
      requestAnimationFrame(draw);
    }
    return;
  }
  run.spent += performance.now() - run.started;
  run.canContinue = Boolean(message.canContinue);
  run.state = message.type === "done" ? "done" : "partial";
  if (run.state === "done") {
    run.share = 1;
    const isBad = run.errors === run.answered;
    const errors = isBad ? ", all of them errors" : "";
    const seconds = (run.spent / 1000).toFixed(2);
    say(`Done: ${plural(run.answered, "answer")} in ${seconds} s${errors}.`, isBad ? "bad" : "good");
  } else if (message.isStopped) {
    say(`Stopped. ${soFar(run)}`);
  } else {
    say(`${message.message} ${message.canContinue ? soFar(run) : ""}`.trim(), "bad");
  }
  draw();
}

/**
 * How far a run has come.
 * @param {Run} run
 */
function soFar({ answered, line, share }) {
  if (!answered) return "Nothing is answered yet. Continue begins again.";
  const at = `${plural(answered, "answer")} to line ${count(line)}, ${Math.floor(100 * share)} % of the list`;
  return `So far: ${at}. Continue goes on from there.`;
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
  const isRunning = run.state === "running";
  const seconds = (run.spent + (isRunning ? performance.now() - run.started : 0)) / 1000;
  const figures = {
    puzzles: run.answered,
    solved: run.answered - run.errors,
    errors: run.errors,
    rate: Math.round(run.answered / seconds),
  };
  for (const [name, figure] of Object.entries(figures)) {
    byId(`bulk-${name}`, HTMLElement).textContent = count(figure);
  }
  progress.value = run.share;
  controls.stop.disabled = !isRunning;
  controls.choose.disabled = isRunning;
  controls.goOn.hidden = run.state !== "partial" || !run.canContinue;
  controls.download.disabled = run.answers.length === 0 || isRunning;
  controls.download.textContent = run.state === "partial" ? "Download partial answers" : "Download answers";
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
  controls.goOn.addEventListener("click", goOn);
  controls.download.addEventListener("click", () => {
    if (!run) return;
    const part = run.state === "partial" ? `partial-to-line-${run.line}-` : "";
    download(new Blob(run.answers), `${run.stem}-${part}${run.suffix}`);
  });
}
