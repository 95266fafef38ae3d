/** Playing: the number pad, the tools, the switches, and the buttons that solve and check. */

import { call } from "./api.js";
import { COLORS } from "./board.js";
import { TEXT_FIELDS, button, byId, count, make, plural } from "./dom.js";
import { textOf, valuesIn } from "./grid.js";
import { erase, isTouched, restart, withSolution } from "./history.js";
import * as page from "./page.js";
import { ask, knownSolution, ownFormat, solutionOf } from "./solution.js";
import { boardChanged, isBusy, run } from "./task.js";

/** The columns of the number pad, by order. */
const PAD_COLUMNS = [0, 1, 4, 9, 8, 9];

const pad = byId("pad", HTMLElement);
const frame = byId("frame", HTMLElement);
const controls = {
  undo: button("undo"),
  redo: button("redo"),
  erase: button("erase"),
  several: button("several"),
  zoom: button("zoom"),
  solve: button("solve"),
  check: button("check"),
  restart: button("restart"),
  adopt: button("adopt"),
  mistakes: byId("mistakes", HTMLInputElement),
};

/** The buttons that change what is entered. @type {[HTMLButtonElement, page.Entry][]} */
const entries = [
  [button("pencil"), "marks"],
  [button("centre"), "centre"],
  [button("color"), "colors"],
];

/** What the pad was built for. */
let padSymbols = "";

/** @param {AbortSignal} signal */
async function solve(signal) {
  const asked = page.position();
  const { cells, message } = await solutionOf(asked, signal);
  if (!cells) return page.fail(message);
  page.change(withSolution(asked, cells));
  frame.scrollIntoView({ block: "nearest" });
  page.say(message, "good");
}

/** @param {AbortSignal} signal */
async function check(signal) {
  const now = page.position();
  const { shape, values, clues } = now;
  if (values.every(Boolean)) {
    const request = { options: ownFormat(shape), puzzle: textOf(values) };
    const { grids } = await call("Check", request, { signal });
    const grid = grids[0];
    return page.say(grid.message ?? grid.error?.message, grid.solved ? "good" : "bad");
  }
  const { cells, isOnly, message } = await solutionOf(now, signal);
  if (!cells) return page.fail(message);
  const entries = values.reduce((sum, value, cell) => sum + Number(value !== clues[cell]), 0);
  if (!isOnly) {
    // Which of its solutions is meant shows in the entries.
    const { solution } = await ask(shape, values, "QUESTION_FIRST", signal);
    const several = "The puzzle has more than one solution";
    if (solution === undefined) page.fail(`${several}, and none of them has these entries.`);
    else page.say(`${several}${entries ? ", and one of them has these entries" : ""}.`, "good");
    return;
  }
  const wrong = values.reduce((sum, value, cell) => sum + Number(value && value !== cells[cell]), 0);
  const shown = page.settings.mistakes ? "" : " Mark mistakes shows which.";
  const blanks = clues.reduce((sum, clue) => sum + Number(!clue), 0);
  const filled = plural(entries, "filled-in cell");
  if (wrong) page.fail(`Not right: ${count(wrong)} of ${filled} ${wrong === 1 ? "is" : "are"} wrong.${shown}`);
  else if (entries) page.say(`Right so far: ${count(entries)} of ${plural(blanks, "cell")} filled in.`, "good");
  else page.say("Nothing is filled in yet. The puzzle has one solution.", "good");
}

/**
 * Learns the solution of the puzzle, because mistakes are known by it.
 * @param {boolean} isSwitched whether a person has just switched the marks on
 */
async function learn(isSwitched) {
  const now = page.position();
  if (!page.settings.mistakes || !now.isPuzzle || (knownSolution(now) && !isSwitched)) return;
  const work = async () => {
    const { cells, isOnly, message } = await solutionOf(now, new AbortController().signal);
    page.draw();
    if (isOnly || !isSwitched) return;
    const why = cells ? "There is no single solution to compare with." : message;
    page.say(`${why} Only cells that break a rule are marked.`);
  };
  const fail = isSwitched ? page.fail : () => {};
  await run(controls.mistakes, work, { fail, outlivesBoard: true });
  if (page.position().clues !== now.clues) learn(false);
}

/** Builds the pad for the symbols of the position. */
function buildPad() {
  const { shape, symbols } = page.position();
  const wanted = symbols.join("");
  if (wanted === padSymbols) return;
  padSymbols = wanted;
  pad.style.setProperty("--columns", String(PAD_COLUMNS[shape.order]));
  pad.dataset.order = String(shape.order);
  pad.replaceChildren(
    ...symbols.map((symbol, index) => {
      const key = make("button", { "data-value": String(index + 1) }, symbol);
      return key;
    }),
  );
}

/**
 * The values that the selected cell is marked with, or the number of its colour.
 * @param {page.Entry} entry
 */
function markedIn(entry) {
  const now = page.position();
  const cell = page.board.selected;
  if (entry === "colors") return [now.colors[cell]];
  if (entry === "digits" || now.values[cell]) return [];
  return valuesIn((page.settings.automatic ? page.automaticMarks(now) : now[entry])[cell]);
}

/** Shows on the pad which values are marked in the selected cell, and which are used up. */
function drawPad() {
  const { shape, values, clues } = page.position();
  const cells = page.board.selection;
  const { entry } = page.settings;
  const isOpen = !page.hasScene();
  const isColor = entry === "colors";
  const isMark = entry === "marks" || entry === "centre";
  const canEnter = isOpen && (isColor || cells.some((cell) => !clues[cell] && !(isMark && values[cell])));
  const marked = new Set(markedIn(entry));
  const used = new Uint16Array(shape.side + 1);
  for (const value of values) used[value]++;
  pad.classList.toggle("pencil", isMark);
  pad.classList.toggle("colors", isColor);
  for (const key of pad.children) {
    if (!(key instanceof HTMLButtonElement)) continue;
    const value = Number(key.dataset.value);
    key.disabled = !canEnter || (isColor && value > COLORS.length);
    key.classList.toggle("full", !isColor && used[value] >= shape.side);
    if (isColor && COLORS[value - 1]) key.setAttribute("aria-label", `${key.textContent}, ${COLORS[value - 1]}`);
    else key.removeAttribute("aria-label");
    if (entry === "digits") key.removeAttribute("aria-pressed");
    else key.setAttribute("aria-pressed", String(marked.has(value)));
  }
}

function refresh() {
  buildPad();
  drawPad();
  const now = page.position();
  const isFull = now.values.every(Boolean);
  const isOpen = !page.hasScene();
  controls.undo.disabled = !page.canUndo();
  controls.redo.disabled = !page.canRedo();
  controls.erase.disabled = !isOpen || erase(now, page.board.selection) === now;
  for (const [control, entry] of entries) {
    control.setAttribute("aria-pressed", String(page.settings.entry === entry));
  }
  controls.check.textContent = isFull ? "Check solution" : "Check so far";
  controls.restart.disabled = !isTouched(now);
  controls.adopt.hidden = now.isPuzzle;
  controls.restart.hidden = !now.isPuzzle;
  refreshZoom();
}

/** The least width of a cell for fingers, in pixels. */
const LEAST_CELL = 30;

/** The least width of a pencil mark for eyes, in pixels. */
const LEAST_MARK = 10;

/** Offers the zoom where cells are too small for fingers, and hides marks too small for eyes. */
function refreshZoom() {
  const { side, order } = page.position().shape;
  const width = frame.clientWidth / side;
  const areMarksSmall = width / order < LEAST_MARK;
  const isFine = width >= LEAST_CELL && !areMarksSmall;
  controls.zoom.hidden = isFine;
  if (isFine) setZoom(false);
  frame.classList.toggle("small", areMarksSmall && !frame.classList.contains("zoomed"));
}

/** @param {boolean} isZoomed */
function setZoom(isZoomed) {
  frame.classList.toggle("zoomed", isZoomed);
  controls.zoom.setAttribute("aria-pressed", String(isZoomed));
}

/** Says where pencil marks are to be read, if the cells are too small for them. */
function explainMarks() {
  const isHidden = frame.classList.contains("small");
  if (isHidden) page.say("Zoom in to see the pencil marks, or select a cell to read its marks here.");
}

/** Wires the controls. */
export function start() {
  pad.addEventListener("click", (event) => {
    const key = event.target instanceof Element ? event.target.closest("button") : null;
    if (key) page.enterValue(Number(key.dataset.value));
  });
  // After a click with the mouse the keys go to the board, where the next value is expected, and so
  // they do from a button that is disabled by its own click.
  for (const card of document.querySelectorAll(".pad-card, .answers-card")) {
    card.addEventListener("click", (event) => {
      const isOfMouse = event instanceof PointerEvent && event.pointerType === "mouse";
      const pressed = event.target instanceof Element ? event.target.closest("button") : null;
      if (isOfMouse || pressed?.disabled) page.board.focus();
    });
  }

  controls.undo.addEventListener("click", page.undo);
  controls.redo.addEventListener("click", page.redo);
  controls.erase.addEventListener("click", page.eraseSelected);
  for (const [control, entry] of entries) control.addEventListener("click", () => page.setEntry(entry));
  controls.several.addEventListener("click", () => {
    const isOn = controls.several.getAttribute("aria-pressed") !== "true";
    controls.several.setAttribute("aria-pressed", String(isOn));
    page.board.addsCells = isOn;
  });
  controls.restart.addEventListener("click", () => page.change(restart(page.position())));
  controls.adopt.addEventListener("click", () => page.board.focus());
  controls.zoom.addEventListener("click", () => {
    setZoom(!frame.classList.contains("zoomed"));
    page.say("");
    refreshZoom();
    page.board.reveal();
  });
  for (const name of /** @type {const} */ (["automatic", "mistakes", "timed", "short"])) {
    const field = byId(name, HTMLInputElement);
    field.checked = page.settings[name];
    field.addEventListener("change", () => {
      page.setSwitch(name, field.checked);
      if (name === "automatic" && field.checked) explainMarks();
      if (name === "mistakes") learn(true);
    });
  }
  controls.solve.addEventListener("click", () => {
    if (!isBusy(controls.solve)) boardChanged();
    run(controls.solve, solve, page);
  });
  controls.check.addEventListener("click", () => run(controls.check, check, page));
  document.addEventListener("keydown", (event) => {
    const hasOwnKeys =
      event.target instanceof HTMLElement &&
      event.target.closest(`${TEXT_FIELDS}, select, dialog`);
    if (hasOwnKeys || page.isHidden() || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) page.undo();
    else if (key === "y" || key === "z") page.redo();
    else return;
    event.preventDefault();
  });
  new ResizeObserver(refreshZoom).observe(frame);
  page.onDraw(refresh);
  page.onChange(() => learn(false));
}
