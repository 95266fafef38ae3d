/**
 * Watching a search: its steps come as a stream and are played on the board, some in each frame.
 *
 * The stream is read only a little ahead of what is shown, so a long search waits at the server
 * and not in memory here.
 */

import { KIND, MARK } from "./board.js";
import { stream } from "./api.js";
import { button, byId, count, plural, wholeNumber } from "./dom.js";
import { cellsOfHouse, indexOf, textOf } from "./grid.js";
import * as page from "./page.js";
import { ownFormat } from "./solution.js";
import { isAbort, messageOf } from "./task.js";

/** @typedef {import("./history.js").Position} Position */

/**
 * A step on the wire.
 * @typedef {object} TraceStep
 * @property {string} kind
 * @property {{row: number, column: number}} [cell]
 * @property {number} [digit]
 * @property {{kind: string, number: number}} [house]
 * @property {number} [band]
 */

/** The steps a second, by the position of the slider; 0 for as many as frames allow. */
const SPEEDS = [1, 2, 5, 15, 60, 200, 600, 2_000, 10_000, 0];

/** Steps that are read ahead. */
const AHEAD = 2_048;

/** The time of a frame that steps may take, in milliseconds. */
const FRAME_BUDGET = 9;

const controls = {
  watch: button("watch"),
  pause: button("watch-pause"),
  step: button("watch-step"),
  stop: button("watch-stop"),
  speed: byId("speed", HTMLInputElement),
  limit: byId("step-limit", HTMLInputElement),
  strategy: byId("strategy", HTMLSelectElement),
};
const fieldError = byId("watch-error", HTMLElement);
const counters = ["steps", "guesses", "backtracks", "depth"].map((name) =>
  byId(`count-${name}`, HTMLElement),
);

/** The grid of a search, by its steps. */
class Playback {
  steps = 0;
  guesses = 0;
  backtracks = 0;
  /**
   * What was placed, in order, so that a guess can be taken back.
   * @type {{cell: number, isGuess: boolean}[]}
   */
  #trail = [];
  #depth = 0;

  /** @param {Position} position */
  constructor({ shape, symbols, clues }) {
    this.shape = shape;
    this.symbols = symbols;
    this.values = clues.slice();
    this.kinds = clues.map((clue) => (clue ? KIND.CLUE : KIND.BLANK));
    this.marks = new Uint8Array(shape.cells);
    this.nothing = new Uint32Array(shape.cells);
  }

  get depth() {
    return this.#depth;
  }

  /** @param {TraceStep} step */
  apply({ kind, cell, digit = 0, house, band }) {
    this.steps++;
    this.marks.fill(0);
    const at = indexOf(this.shape, cell);
    switch (kind) {
      case "KIND_GUESS":
      case "KIND_INFER": {
        if (at < 0) break;
        const isGuess = kind === "KIND_GUESS";
        this.values[at] = digit;
        this.kinds[at] = isGuess ? KIND.GUESS : KIND.STEP;
        this.marks[at] = MARK.FRESH;
        this.#trail.push({ cell: at, isGuess });
        if (isGuess) {
          this.guesses++;
          this.#depth++;
        }
        break;
      }
      case "KIND_CONFLICT":
        for (const other of cellsOfHouse(this.shape, house)) this.marks[other] |= MARK.WRONG;
        if (at >= 0) this.marks[at] |= MARK.WRONG | MARK.FRESH;
        break;
      case "KIND_BACKTRACK":
        this.backtracks++;
        this.#takeBack(at);
        if (at >= 0) this.marks[at] = MARK.FRESH;
        break;
      case "KIND_BAND_COMPLETE": {
        const { side, order } = this.shape;
        const start = ((band ?? 1) - 1) * order * side;
        this.marks.fill(MARK.LOOK, start, start + order * side);
        break;
      }
    }
  }

  /**
   * Takes a guess back, and all that was placed after it.
   * @param {number} cell
   */
  #takeBack(cell) {
    for (;;) {
      const last = this.#trail.pop();
      if (!last) return;
      this.values[last.cell] = 0;
      this.kinds[last.cell] = KIND.BLANK;
      if (last.isGuess) this.#depth--;
      if (last.isGuess && last.cell === cell) return;
    }
  }

  /** @returns {import("./board.js").Picture} */
  picture() {
    const { shape, symbols, values, kinds, marks, nothing } = this;
    return {
      shape,
      symbols,
      values,
      kinds,
      marks,
      candidates: nothing,
      colored: nothing,
      isFixed: true,
      isQuiet: true,
    };
  }
}

/** A search that is played. */
class Show {
  #abort = new AbortController();
  /** @type {TraceStep[]} */
  #steps = [];
  #at = 0;
  /** Whether the stream has ended. */
  #isRead = false;
  /** The answer of the search. @type {any} */
  #answer = null;
  /** Wakes the reading of the stream. @type {(() => void) | null} */
  #wake = null;
  /** Steps that were due but not played, of less than a frame. */
  #due = 0;
  #lastFrame = 0;
  isPaused = false;
  isOver = false;

  /**
   * @param {Position} position
   * @param {number} limit
   */
  constructor(position, limit) {
    this.limit = limit;
    this.playback = new Playback(position);
    const options = { ...ownFormat(position.shape), strategy: controls.strategy.value };
    this.#read({ options, puzzle: textOf(position.clues), stepLimit: String(limit) });
    requestAnimationFrame((time) => this.#frame(time));
  }

  /** @param {object} request */
  async #read(request) {
    try {
      for await (const { steps = [], end } of stream("Trace", request, this.#abort.signal)) {
        this.#steps = this.#steps.slice(this.#at).concat(steps);
        this.#at = 0;
        if (end) this.#answer = end.answer ?? null;
        while (this.#steps.length - this.#at > AHEAD) {
          await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
          if (this.#abort.signal.aborted) return;
        }
      }
      this.#isRead = true;
    } catch (error) {
      if (isAbort(error)) return;
      this.isOver = true;
      page.showScene(null, { text: messageOf(error), kind: "bad" });
    }
  }

  /** @param {number} time */
  #frame(time) {
    if (this.isOver) return;
    const elapsed = Math.min(time - (this.#lastFrame || time), 250);
    this.#lastFrame = time;
    if (!this.isPaused) {
      const speed = SPEEDS[Number(controls.speed.value)];
      this.#due += speed ? (elapsed * speed) / 1000 : 0;
      const wanted = speed ? Math.floor(this.#due) : Infinity;
      const played = this.#play(wanted);
      // What the stream could not deliver is not caught up on: that would be a jump.
      this.#due = played < wanted ? 0 : this.#due - wanted || 0;
    }
    requestAnimationFrame((time) => this.#frame(time));
  }

  /**
   * Plays up to this many steps, as time allows, and draws.
   * @param {number} wanted
   */
  #play(wanted) {
    const until = performance.now() + FRAME_BUDGET;
    let played = 0;
    while (played < wanted && this.#at < this.#steps.length) {
      this.playback.apply(this.#steps[this.#at++]);
      played++;
      if (played % 64 === 0 && performance.now() > until) break;
    }
    if (this.#steps.length - this.#at <= AHEAD) this.#wake?.();
    if (played) this.#draw();
    if (this.#isRead && this.#at === this.#steps.length) this.#finish();
    return played;
  }

  #draw() {
    const { playback } = this;
    page.drawScene(playback.picture());
    const figures = [playback.steps, playback.guesses, playback.backtracks, playback.depth];
    figures.forEach((figure, index) => (counters[index].textContent = count(figure)));
  }

  /** Plays one step. */
  step() {
    this.isPaused = true;
    this.#play(1);
  }

  #finish() {
    const answer = this.#answer;
    if (answer?.solution !== undefined) this.#end("Hurray!", "good");
    else if (answer?.error?.code === "ERROR_CODE_NO_SOLUTION") this.#end("No solution!", "bad");
    else if (answer?.error) this.#end(answer.error.message, "bad");
    else this.#end(`The step limit was reached: ${plural(this.playback.steps, "step")} were shown.`, "");
  }

  /**
   * @param {string} text
   * @param {"" | "good" | "bad"} kind
   */
  #end(text, kind) {
    this.isOver = true;
    this.#abort.abort();
    page.showScene(this.playback.picture(), { text, kind });
  }

  /** Ends the show before its end. */
  stop() {
    if (this.isOver) return;
    this.isOver = true;
    this.#abort.abort();
    this.#wake?.();
  }
}

/** The search on the board. @type {Show | null} */
let show = null;

function refresh() {
  const isOn = show !== null && !show.isOver;
  const hadFocus = [controls.pause, controls.step, controls.stop].some(
    (control) => control === document.activeElement,
  );
  controls.watch.disabled = !page.hasPuzzle() || isOn;
  controls.pause.disabled = controls.stop.disabled = !isOn;
  controls.step.disabled = !isOn;
  controls.pause.textContent = show?.isPaused && isOn ? "Go on" : "Pause";
  if (hadFocus && !isOn) page.board.focus();
}

function watch() {
  const limit = wholeNumber(controls.limit);
  if (limit === null) {
    const most = count(Number(controls.limit.max));
    fieldError.textContent = `The step limit is a whole number from 1 to ${most}.`;
    return;
  }
  fieldError.textContent = "";
  for (const counter of counters) counter.textContent = "0";
  const started = new Show(page.position(), limit);
  show = started;
  page.showScene(started.playback.picture(), { isRunning: true, ended: () => started.stop() });
  controls.pause.focus();
}

function showSpeed() {
  const speed = SPEEDS[Number(controls.speed.value)];
  const text = speed ? `${count(speed)} steps/s` : "unlimited";
  byId("speed-text", HTMLElement).textContent = text;
  controls.speed.setAttribute("aria-valuetext", text);
}

/** Wires the controls. */
export function start() {
  controls.watch.addEventListener("click", watch);
  controls.pause.addEventListener("click", () => {
    if (show) show.isPaused = !show.isPaused;
    refresh();
  });
  controls.step.addEventListener("click", () => {
    show?.step();
    refresh();
  });
  controls.stop.addEventListener("click", () => {
    page.showScene(null);
    controls.watch.focus();
  });
  controls.speed.addEventListener("input", showSpeed);
  controls.limit.addEventListener("input", () => (fieldError.textContent = ""));
  page.onDraw(refresh);
  showSpeed();
  refresh();
}
