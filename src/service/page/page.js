/**
 * The state of the page: the position with its history, what lies on top of it, and the settings.
 *
 * Everything else asks this module for the position and hands it the next one; it draws the board
 * and tells whoever listens that the board has changed.
 */

import { Board, COLORS, KIND, MARK } from "./board.js";
import { byId, count, plural } from "./dom.js";
import { candidatesOf, conflictsOf } from "./grid.js";
import {
  History,
  asPuzzle,
  emptyBoard,
  enter,
  erase,
  isTouched,
  packed,
  toggleColor,
  toggleMark,
  unpacked,
} from "./history.js";
import { forget, keep, kept } from "./kept.js";
import { knownSolution } from "./solution.js";
import { boardChanged } from "./task.js";

/** @typedef {import("./history.js").Position} Position */
/** @typedef {import("./board.js").Picture} Picture */

/**
 * Colours on top of the position.
 * @typedef {object} Decoration
 * @property {Uint8Array} marks bits of MARK
 * @property {Uint32Array} colored
 * @property {Uint32Array} [gone] values that a step takes away, as bits
 * @property {Uint32Array} [candidates] pencil marks instead of those that the board shows
 */

/** What keys and the pad put into cells. @typedef {"digits" | "marks" | "centre" | "colors"} Entry */

/** What a person has chosen, kept for the tab. */
export const settings = {
  entry: /** @type {Entry} */ ("digits"),
  automatic: kept("automatic") === "true",
  mistakes: kept("mistakes") === "true",
  timed: kept("timed") !== "false",
  short: kept("short") === "true",
};

/** The entry to which the space bar changes from digits. @type {Entry} */
let lastMarks = "marks";


let history = new History(emptyBoard(3));

/**
 * The link whose puzzle is on the board: its hash and clues, and the position that was there before
 * links, if it is known.
 * @type {{hash: string, clues: Uint8Array, before: Position | null} | null}
 */
let linked = null;

/** @type {Decoration | null} */
let decoration = null;

/** A picture instead of the position: a step of a solution, a search. @type {Picture | null} */
let scene = null;

/** Told when the scene is over. @type {(() => void) | undefined} */
let sceneEnded;

/** @type {(() => void)[]} */
const changeListeners = [];

/** @type {(() => void)[]} */
const drawListeners = [];

/** @type {(() => void)[]} */
const nameListeners = [];

const view = byId("puzzle-view", HTMLElement);
const frame = byId("frame", HTMLElement);
const status = byId("status", HTMLElement);
const readout = byId("readout", HTMLElement);
const back = byId("back", HTMLButtonElement);

/** The board. */
export const board = new Board(byId("board", HTMLElement), {
  enter: enterValue,
  erase: eraseBack,
  undo,
  togglePencil: () => setEntry(lastMarks),
  leave: () => scene && showScene(null),
  select: () => afterDraw(),
});

back.addEventListener("click", () => {
  showScene(null);
  board.focus();
});

/** Whether another view is seen instead of the board. */
export function isHidden() {
  return view.hidden;
}

/** The position on the board. */
export function position() {
  return history.now;
}

/** Whether there is a change to take back. */
export function canUndo() {
  return history.canUndo;
}

/** Whether there is a change to make again. */
export function canRedo() {
  return history.canRedo;
}

/**
 * Calls a function after every change of the position.
 * @param {() => void} listener
 */
export function onChange(listener) {
  changeListeners.push(listener);
}

/**
 * Calls a function after the board was drawn for a new state.
 * @param {() => void} listener
 */
export function onDraw(listener) {
  drawListeners.push(listener);
}

/**
 * Calls a function after cells are to be named in another way.
 * @param {() => void} listener
 */
export function onNames(listener) {
  nameListeners.push(listener);
}

/**
 * Puts the next position on the board.
 * @param {Position} next
 */
export function change(next) {
  const before = history.now;
  if (next === before) return;
  history.push(next);
  changed();
  if (next.values !== before.values) sayWhetherSolved();
}

/**
 * Puts a puzzle on the board that has nothing to do with the one before.
 * @param {Position} next
 * @param {string} message
 * @param {boolean} [isLinked] whether the address of the page holds it
 */
export function load(next, message, isLinked = false) {
  if (isLinked) {
    // From one link to the next, what was there before them stays the same.
    const before = linked ? linked.before : history.now;
    linked = { hash: location.hash, clues: next.clues, before };
  }
  history.push(next);
  changed();
  const blank = next.clues.indexOf(0);
  board.select(Math.max(0, blank));
  say(message);
}

/** Whether the puzzle of the link in the address is on the board already. */
export function holdsLink() {
  return linked?.hash === location.hash;
}

/**
 * Takes back the puzzle of a link that the address no longer holds. It stays if it is not known
 * what was there before, as after a reload.
 */
export function leaveLink() {
  if (!linked) return;
  if (linked.before) history.undoTo(linked.before);
  changed();
}

/**
 * Puts the board back that the tab had before a reload.
 * @returns {boolean} whether it has the puzzle of the address
 */
export function restore() {
  try {
    const { hash, position } = JSON.parse(kept("board") ?? "{}");
    if (!position) return false;
    history = new History(unpacked(position));
    // Without a link, the board is the puzzle of none.
    if (hash && location.hash === hash) linked = { hash, clues: history.now.clues, before: null };
    draw();
  } catch (error) {
    // Kept by another version of the page; it would fail again at each reload.
    console.debug(error);
    forget("board");
    history = new History(emptyBoard(3));
    linked = null;
    draw();
    return false;
  }
  if (history.now.isPuzzle || isTouched(history.now)) say("Here is the board as you left it.");
  return linked !== null;
}

/** Takes the last change back. */
export function undo() {
  if (!history.canUndo) return;
  history.undo();
  changed();
}

/** Makes the change again that was taken back. */
export function redo() {
  if (!history.canRedo) return;
  history.redo();
  changed();
}

function changed() {
  boardChanged();
  decoration = null;
  endScene();
  setMode("play");
  say("");
  // The address holds the puzzle on the board or none, because it is what a bookmark keeps.
  if (linked?.hash !== location.hash || linked.clues !== history.now.clues) {
    linked = null;
    if (location.hash) window.history.replaceState(null, "", location.pathname);
  }
  keepBoard();
  for (const listener of changeListeners) listener();
  draw();
}

/** Keeps the board for a reload. */
function keepBoard() {
  keep("board", JSON.stringify({ hash: location.hash, position: packed(history.now) }));
}

/**
 * Whether the board shows something else than the position.
 */
export function hasScene() {
  return scene !== null;
}

/**
 * Enters a value into the selected cells, or marks or colours them; 0 leaves them blank.
 * @param {number} value
 */
export function enterValue(value) {
  if (refuseEntry()) return;
  const now = history.now;
  const cells = board.selection;
  const { entry } = settings;
  if (value && entry === "colors") {
    if (value <= COLORS.length) change(toggleColor(now, cells, value));
  } else if (value && entry !== "digits") {
    change(toggleMark(now, cells, value, settings.automatic ? "struck" : entry === "centre" ? entry : "marks"));
  } else {
    change(value ? cells.reduce((next, cell) => enter(next, cell, value), now) : erase(now, cells));
    // A puzzle from paper is typed cell by cell.
    if (!now.isPuzzle && cells.length === 1) board.advance(1);
  }
}

/** Says of a board without a blank whether it is solved. */
function sayWhetherSolved() {
  const { shape, values } = history.now;
  if (!values.every(Boolean)) return;
  const broken = conflictsOf(shape, values).reduce((sum, isBroken) => sum + isBroken, 0);
  if (!broken) say("Solved: every cell is filled in, and all rules are kept.", "good");
  else say(`Every cell is filled in, but ${plural(broken, "cell")} break the rules. Mark mistakes shows them.`, "bad");
}

/** Blanks the selected cells, or the one before where a puzzle is typed. */
function eraseBack() {
  const { isPuzzle, values } = history.now;
  if (!isPuzzle && !values[board.selected]) board.advance(-1);
  eraseSelected();
}

/** Blanks the selected cells. */
export function eraseSelected() {
  if (!refuseEntry()) change(erase(history.now, board.selection));
}

/** Whether there is something to solve: a puzzle, or entries that can become one. */
export function hasPuzzle() {
  return history.now.isPuzzle || history.now.values.some(Boolean);
}

/**
 * Makes the entries of a board without a puzzle its clues.
 * @returns {boolean} whether the board has a puzzle now: entries that break a rule are none
 */
export function adopt() {
  const now = history.now;
  if (now.isPuzzle) return true;
  const conflicts = conflictsOf(now.shape, now.values);
  if (conflicts.some(Boolean)) {
    decorate({ ...plainDecoration(), marks: conflicts.map((isBad) => (isBad ? MARK.CONFLICT : 0)) });
    fail("The entries break a rule in the marked cells. Correct them, then try again.");
    return false;
  }
  load(asPuzzle(now), "The entries are the clues now.");
  return true;
}

function refuseEntry() {
  const isRunning = back.hidden;
  if (scene && isRunning) say("The board shows a search. Stop it to enter values.");
  else if (scene) say("The board shows a search or a step. Go back to your board to enter values.");
  return scene !== null;
}

/**
 * Changes what is entered, or back to digits.
 * @param {Entry} entry
 */
export function setEntry(entry) {
  if (entry !== "digits") lastMarks = entry;
  settings.entry = settings.entry === entry ? "digits" : entry;
  draw();
}

/**
 * Sets a switch.
 * @param {"automatic" | "mistakes" | "timed" | "short"} name
 * @param {boolean} isOn
 */
export function setSwitch(name, isOn) {
  settings[name] = isOn;
  keep(name, String(isOn));
  if (name === "short") for (const listener of nameListeners) listener();
  draw();
}

/**
 * Says something in the status line.
 * @param {string} text
 * @param {"" | "good" | "bad" | "step"} [kind]
 */
export function say(text, kind = "") {
  status.textContent = text;
  status.dataset.kind = kind;
  // A result is worth a look, wherever on a narrow page the button was.
  if (text && kind) status.scrollIntoView({ block: "nearest" });
}

/** The longest time before something under way is said, in milliseconds. */
const PATIENCE = 250;

/**
 * Says what is under way, if that takes longer than a moment.
 * @param {string} text
 * @returns {() => void} what to call at its end
 */
export function sayMeanwhile(text) {
  const timer = setTimeout(() => say(text), PATIENCE);
  return () => {
    clearTimeout(timer);
    unsay(text);
  };
}

/**
 * Takes back what is said, if it is this.
 * @param {string | null} text
 */
export function unsay(text) {
  if (status.textContent === text) say("");
}

/**
 * Says what went wrong; an empty text takes that back.
 * @param {string} text
 */
export function fail(text) {
  if (text) say(text, "bad");
  else if (status.dataset.kind === "bad") say("");
}

/**
 * Says what a person looks at together with the board, which a narrow page then shows beside it.
 * @param {"play" | "hint" | "study"} mode
 */
export function setMode(mode) {
  if ((view.dataset.mode ?? "play") === mode) return;
  view.dataset.mode = mode;
  if (mode !== "play") frame.scrollIntoView({ block: "nearest" });
}

/**
 * Colours cells of the position until it changes.
 * @param {Decoration | null} next
 */
export function decorate(next) {
  decoration = next;
  draw();
}

/** A decoration without colours for the position. @returns {Decoration} */
export function plainDecoration() {
  const { cells } = history.now.shape;
  return { marks: new Uint8Array(cells), colored: new Uint32Array(cells), gone: new Uint32Array(cells) };
}

/**
 * Shows a picture instead of the position, or the position again.
 * @param {Picture | null} next
 * @param {object} [options]
 * @param {string} [options.text] what it is
 * @param {"" | "good" | "bad" | "step"} [options.kind] the kind of the text
 * @param {boolean} [options.isRunning] whether it goes on by itself, with its own way to end it
 * @param {() => void} [options.ended] called when something else is shown
 */
export function showScene(next, { text = "", kind = "", isRunning = false, ended } = {}) {
  endScene();
  scene = next;
  sceneEnded = ended;
  setMode(next ? "study" : "play");
  back.hidden = !next || isRunning;
  say(text, kind);
  draw();
}

function endScene() {
  const ended = sceneEnded;
  sceneEnded = undefined;
  scene = null;
  back.hidden = true;
  ended?.();
}

/**
 * Draws the next picture of a scene that is shown, and nothing else, because it comes with every
 * frame.
 * @param {Picture} next
 */
export function drawScene(next) {
  scene = next;
  board.draw(next);
}

/** The kinds of the cells of a position. @param {Position} position */
function kindsOf({ shape, clues, values, given }) {
  const kinds = new Uint8Array(shape.cells);
  for (let cell = 0; cell < kinds.length; cell++) {
    if (clues[cell]) kinds[cell] = KIND.CLUE;
    else if (values[cell]) kinds[cell] = given[cell] ? KIND.GIVEN : KIND.ENTRY;
  }
  return kinds;
}

/**
 * The automatic pencil marks that the board shows.
 * @param {Position} position
 */
export function automaticMarks({ shape, values, struck }) {
  const candidates = candidatesOf(shape, values);
  return candidates.map((bits, cell) => bits & ~struck[cell]);
}

/**
 * A sentence with cells named as a person wants them.
 * @param {string} sentence as of the server, such as `(3, 1) is 4`
 */
export function named(sentence) {
  if (!settings.short) return sentence;
  return sentence.replace(/\((\d+),\s(\d+)\)|Row (\d+), column (\d+)/g, (_, row, column, ...more) =>
    row ? `r${row}c${column}` : `r${more[0]}c${more[1]}`,
  );
}

/** Draws the board and what depends on it. */
export function draw() {
  const now = history.now;
  if (scene) {
    board.draw(scene);
  } else {
    const marks = decoration ? decoration.marks.slice() : new Uint8Array(now.shape.cells);
    if (settings.mistakes) {
      const solution = knownSolution(now);
      const right = solution?.isOnly ? solution.cells : null;
      conflictsOf(now.shape, now.values).forEach((isBad, cell) => {
        if (isBad) marks[cell] |= MARK.CONFLICT;
        if (right && now.values[cell] && now.values[cell] !== right[cell]) marks[cell] |= MARK.WRONG;
      });
    }
    board.draw({
      shape: now.shape,
      symbols: now.symbols,
      values: now.values,
      kinds: kindsOf(now),
      marks,
      candidates: decoration?.candidates ?? (settings.automatic ? automaticMarks(now) : undefined),
      // What a step shows comes in the place of marks by hand.
      corner: decoration?.candidates || settings.automatic ? undefined : now.marks,
      centre: decoration?.candidates || settings.automatic ? undefined : now.centre,
      colors: now.colors,
      colored: decoration?.colored ?? new Uint32Array(now.shape.cells),
      gone: decoration?.gone,
      isFixed: false,
      isQuiet: decoration !== null,
    });
  }
  byId("title", HTMLElement).textContent = now.isPuzzle ? now.title : "No puzzle";
  document.title = now.isPuzzle ? `${now.title} · Sudoku` : "Sudoku";
  byId("facts", HTMLElement).textContent = factsOf(now, scene !== null);
  afterDraw();
}

function afterDraw() {
  // A cell of a scene changes too often to be read out, and is not the person's.
  readout.textContent = scene ? "" : named(board.label);
  for (const listener of drawListeners) listener();
}

/**
 * @param {Position} position
 * @param {boolean} isCovered whether something else is seen, with other cells filled in
 */
function factsOf({ shape, clues, values, isPuzzle }, isCovered) {
  const size = `${shape.side}x${shape.side}`;
  if (!isPuzzle) return size;
  const facts = [size, plural(clues.filter(Boolean).length, "clue")];
  const blanks = values.filter((value) => !value).length;
  if (!isCovered) facts.push(blanks ? `${count(blanks)} to fill in` : "full");
  return facts.join(" · ");
}
