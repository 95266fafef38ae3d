/**
 * The start of the page: views, tabs, colours, the token, and the parts that are loaded when they
 * are first used.
 */

import { partMissing, useToken } from "./api.js";
import { TEXT_FIELDS, button, byId } from "./dom.js";
import { keep, kept } from "./kept.js";
import * as page from "./page.js";
import * as play from "./play.js";
import * as timer from "./timer.js";

/** Whether colours are dark, as chosen or by the system. */
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function startTheme() {
  const toggle = button("theme");
  const chosen = kept("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  const show = () => toggle.setAttribute("aria-pressed", String(isDark()));
  toggle.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    keep("theme", theme);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

/** @param {"puzzle" | "bulk"} name */
function showView(name) {
  keep("view", name);
  byId("bulk-failure", HTMLElement).textContent = "";
  for (const view of ["puzzle", "bulk"]) {
    byId(`${view}-view`, HTMLElement).hidden = view !== name;
    if (view === name) button(`view-${view}`).setAttribute("aria-current", "page");
    else button(`view-${view}`).removeAttribute("aria-current");
  }
}

/** Tabs by the keys that screen readers announce for them. */
function startTabs() {
  const tabs = ["rate", "steps", "watch"].map((name) => button(`tab-${name}`));
  const choose = (/** @type {HTMLButtonElement} */ chosen) => {
    for (const tab of tabs) {
      const isChosen = tab === chosen;
      tab.setAttribute("aria-selected", String(isChosen));
      tab.tabIndex = isChosen ? 0 : -1;
      byId(tab.getAttribute("aria-controls") ?? "", HTMLElement).hidden = !isChosen;
    }
    if (chosen.id === "tab-watch") use(watch(), () => {});
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const last = tabs.length - 1;
      const moves = /** @type {Record<string, number>} */ ({
        ArrowRight: index < last ? index + 1 : 0,
        ArrowLeft: index > 0 ? index - 1 : last,
        Home: 0,
        End: last,
      });
      const next = tabs[moves[event.key]];
      if (!next) return;
      choose(next);
      next.focus();
      event.preventDefault();
    });
  });
}

/** The keys, which nobody guesses. */
function startKeys() {
  const dialog = byId("keys-dialog", HTMLDialogElement);
  button("keys").addEventListener("click", () => dialog.showModal());
  document.addEventListener("keydown", (event) => {
    const isTaken = event.defaultPrevented || !(event.target instanceof HTMLElement);
    if (event.key !== "?" || isTaken || event.target.closest(`${TEXT_FIELDS}, dialog`)) return;
    dialog.showModal();
    event.preventDefault();
  });
}

/** Asks for the token, which is kept for the tab. */
function startToken() {
  const dialog = byId("token-dialog", HTMLDialogElement);
  const field = byId("token", HTMLInputElement);
  useToken(kept("token"), (refused) => {
    byId("token-text", HTMLElement).textContent = refused
      ? "The server refused this token. Enter another one."
      : "The server wants a token. It is kept until this tab is closed.";
    field.value = "";
    dialog.showModal();
    return new Promise((resolve, reject) => {
      dialog.onclose = () => {
        const token = dialog.returnValue;
        dialog.returnValue = "";
        if (!token) return reject(new Error("no token"));
        keep("token", token);
        resolve(token);
        // Data sets were not listed without it. The waiting call takes the token first.
        setTimeout(() => use(open(), (part) => part.listDatasets()));
      };
    });
  });
  byId("token-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close(field.value.trim());
  });
  button("token-cancel").addEventListener("click", () => dialog.close(""));
}

/**
 * Does something with a part once it is loaded.
 * @template T
 * @param {Promise<T>} part
 * @param {(part: T) => void} work
 */
async function use(part, work) {
  try {
    const loaded = await part;
    page.unsay(partMissing());
    const failure = byId("bulk-failure", HTMLElement);
    if (failure.textContent === partMissing()) failure.textContent = "";
    work(loaded);
  } catch (error) {
    console.error(error);
    fail(partMissing());
  }
}

/**
 * Says what went wrong, in the view that is seen.
 * @param {string} text
 */
function fail(text) {
  if (page.isHidden()) byId("bulk-failure", HTMLElement).textContent = text;
  else page.fail(text);
}

/**
 * Loads a module, unless the server is away: browsers remember modules that could not be fetched,
 * and would never ask for them again.
 * @template T
 * @param {() => Promise<T>} load
 */
async function whenServed(load) {
  await fetch("./", { method: "HEAD", cache: "no-store" });
  return load();
}

/**
 * A part that is loaded and started when it is first used, and again if the server was away. Its
 * `waits` ends when it has started.
 * @template {{start: () => void}} T
 * @param {() => Promise<T>} load
 */
function lazy(load) {
  const waiting = new AbortController();
  /** @type {Promise<T> | undefined} */
  let loaded;
  const get = () => {
    loaded ??= whenServed(load).then((part) => {
      part.start();
      waiting.abort();
      return part;
    });
    loaded.catch(() => (loaded = undefined));
    return loaded;
  };
  return Object.assign(get, { waits: waiting.signal });
}

/**
 * Loads the part of a button when it is first pressed; the part then handles the button itself.
 * @param {string[]} ids
 * @param {ReturnType<typeof lazy<{start: () => void}>>} part
 */
function startLater(ids, part) {
  for (const id of ids) {
    const listen = () => button(id).addEventListener("click", press, { once: true, signal: part.waits });
    const press = () => {
      const loading = part();
      loading.catch(listen);
      use(loading, () => button(id).click());
    };
    listen();
  }
}

/**
 * Opens a file, or solves it in bulk where that view is seen.
 * @param {ArrayLike<File> | null | undefined} files
 */
function take(files) {
  if (!files?.length) return;
  const [file] = Array.from(files);
  if (files.length > 1) fail("The page takes one file at a time.");
  else if (page.isHidden()) use(bulk(), (part) => part.take(file));
  else use(open(), (part) => part.openFile(file));
}

/** Files that are chosen, dropped on the page or pasted into it, and texts that are pasted. */
function startFiles() {
  for (const [choose, id] of [
    ["open", "file"],
    ["bulk-open", "bulk-file"],
  ]) {
    const field = byId(id, HTMLInputElement);
    button(choose).addEventListener("click", () => field.click());
    field.addEventListener("change", () => {
      take(field.files);
      field.value = "";
    });
  }

  const hint = byId("drop-hint", HTMLElement);
  // What is behind a dialog cannot be seen.
  const isDialogOpen = () => document.querySelector("dialog[open]") !== null;
  const holdsFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    if (isDialogOpen()) {
      if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
    } else if (page.isHidden()) byId("bulk-drop", HTMLElement).classList.add("over");
    else hint.hidden = false;
  });
  const leave = () => {
    hint.hidden = true;
    byId("bulk-drop", HTMLElement).classList.remove("over");
  };
  document.addEventListener("dragleave", (event) => event.relatedTarget || leave());
  document.addEventListener("drop", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    leave();
    if (!isDialogOpen()) take(event.dataTransfer?.files);
  });
  document.addEventListener("paste", (event) => {
    if (event.target instanceof HTMLElement && event.target.closest(`${TEXT_FIELDS}, dialog`)) return;
    if (event.clipboardData?.files.length) take(event.clipboardData.files);
    else takeText(event.clipboardData?.getData("text/plain") ?? "");
  });
}

/**
 * Opens a pasted text, or the puzzle of a pasted link.
 * @param {string} text
 */
function takeText(text) {
  const link = /^\s*\S*(#p=\d+x\d+-\S*)\s*$/.exec(text);
  if (link) goTo(link[1]);
  else if (text) take([new File([text], "Pasted text", { type: "text/plain" })]);
}

/** The field for texts, because phones have no keys to paste by. */
function startPaste() {
  const dialog = byId("paste-dialog", HTMLDialogElement);
  const field = byId("paste-text", HTMLTextAreaElement);
  button("paste").addEventListener("click", () => {
    field.value = "";
    dialog.showModal();
  });
  button("paste-cancel").addEventListener("click", () => dialog.close());
  byId("paste-form", HTMLFormElement).addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
    takeText(field.value);
  });
}

const open = lazy(() => import("./open.js"));
const bulk = lazy(() => import("./bulk.js"));
const watch = lazy(() => import("./watch.js"));

startTheme();
startTabs();
startToken();
startKeys();
play.start();

button("view-puzzle").addEventListener("click", () => showView("puzzle"));
button("view-bulk").addEventListener("click", () => {
  showView("bulk");
  use(bulk(), () => {});
});
startLater(["create"], lazy(() => import("./create.js")));
startLater(["share"], lazy(() => import("./share.js")));
startLater(["hint"], lazy(() => import("./hint.js")));
startLater(["rate", "list-steps"], lazy(() => import("./study.js")));
startFiles();
startPaste();

/** The buttons that ask something about the puzzle. @type {NodeListOf<HTMLButtonElement>} */
const askAboutPuzzle = document.querySelectorAll("button[data-puzzle]");
for (const asking of askAboutPuzzle) {
  // Before anybody else knows of the click, what was typed becomes the puzzle.
  asking.addEventListener("click", (event) => page.adopt() || event.stopImmediatePropagation(), true);
}
page.onDraw(() => {
  for (const asking of askAboutPuzzle) asking.disabled = !page.hasPuzzle();
  if (page.hasScene()) button("hint").disabled = true;
});
page.draw();
page.say("Open a puzzle file, make a new puzzle, or enter one on the board.");

/** Loads the puzzle of the address, if it has one. */
function openLink() {
  if (location.hash.length < 2) return;
  showView("puzzle");
  const end = page.sayMeanwhile("Opening the link…");
  const loading = whenServed(() => import("./share.js"));
  loading.catch(end);
  const openDataset = async (/** @type {Parameters<typeof import("./open.js").openDataset>} */ ...chosen) =>
    (await open()).openDataset(...chosen);
  use(loading, (part) => part.openLink(location.hash, openDataset).finally(end));
}
/**
 * Opens the puzzle of a link, as if it were in the address.
 * @param {string} hash
 */
function goTo(hash) {
  if (location.hash === hash) openLink();
  else location.hash = hash;
}
addEventListener("hashchange", () => {
  // Back from a link that failed, the board is as it was left.
  if (page.holdsLink()) page.say("");
  else if (location.hash) openLink();
  else page.leaveLink();
});
if (kept("view") === "bulk") button("view-bulk").click();
if (!page.restore()) openLink();
timer.start();
// Data sets are offered once the page is painted; most servers have none.
requestAnimationFrame(() =>
  setTimeout(() =>
    use(open(), (part) => {
      part.listDatasets();
      part.prepare();
    }),
  ),
);
