/**
 * The start of the page: views, tabs, colours, the token, and the parts that are loaded when they
 * are first used.
 */

import { useToken } from "./api.js";
import { button, byId } from "./dom.js";
import * as page from "./page.js";
import * as play from "./play.js";

/** Whether colours are dark, as chosen or by the system. */
function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

function startTheme() {
  const toggle = button("theme");
  const chosen = sessionStorage.getItem("theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
  const show = () => toggle.setAttribute("aria-pressed", String(isDark()));
  toggle.addEventListener("click", () => {
    const theme = isDark() ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    sessionStorage.setItem("theme", theme);
    show();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

/** @param {"puzzle" | "bulk"} name */
function showView(name) {
  for (const view of ["puzzle", "bulk"]) {
    byId(`${view}-view`, HTMLElement).hidden = view !== name;
    if (view === name) button(`view-${view}`).setAttribute("aria-current", "page");
    else button(`view-${view}`).removeAttribute("aria-current");
  }
}

/** @type {Promise<void> | undefined} */
let watchPart;

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
    if (chosen.id === "tab-watch") watchPart ??= import("./watch.js").then((part) => part.start());
  };
  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => choose(tab));
    tab.addEventListener("keydown", (event) => {
      const steps = /** @type {Record<string, number>} */ ({ ArrowRight: 1, ArrowLeft: -1 });
      const step = steps[event.key];
      if (!step) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      choose(next);
      next.focus();
      event.preventDefault();
    });
  });
}

/** Asks for the token, which is kept for the tab. */
function startToken() {
  const dialog = byId("token-dialog", HTMLDialogElement);
  const field = byId("token", HTMLInputElement);
  useToken(sessionStorage.getItem("token"), (refused) => {
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
        sessionStorage.setItem("token", token);
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
    work(await part);
  } catch (error) {
    console.error(error);
    page.fail("A part of the page cannot be loaded. Check that sudokud runs, then reload the page.");
  }
}

/**
 * Loads the part of a button when it is first pressed; the part then handles the button itself.
 * @param {string[]} ids
 * @param {() => Promise<{start: () => void}>} load
 */
function startLater(ids, load) {
  const first = new AbortController();
  for (const id of ids) {
    const pressed = button(id);
    pressed.addEventListener(
      "click",
      () => {
        first.abort();
        use(load(), (part) => {
          part.start();
          pressed.click();
        });
      },
      { signal: first.signal },
    );
  }
}

/** Files that are dropped on the page or pasted into it, and texts that are pasted. */
function startDrop() {
  const hint = byId("drop-hint", HTMLElement);
  const isBulk = () => !byId("bulk-view", HTMLElement).hidden;
  const holdsFiles = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => {
    if (!holdsFiles(event)) return;
    event.preventDefault();
    if (isBulk()) byId("bulk-drop", HTMLElement).classList.add("over");
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
    const file = event.dataTransfer?.files[0];
    if (file) take(file);
  });
  document.addEventListener("paste", (event) => {
    if (event.target instanceof HTMLElement && event.target.closest("input, textarea, dialog")) return;
    const file = event.clipboardData?.files[0];
    const text = event.clipboardData?.getData("text/plain");
    if (file) take(file);
    else if (text) take(new File([text], "Pasted text", { type: "text/plain" }));
  });
  const take = (/** @type {File} */ file) => {
    if (isBulk()) use(bulk(), (part) => part.take(file));
    else use(open(), (part) => part.openFile(file));
  };
}

/** @type {Promise<typeof import("./open.js")> | undefined} */
let openPart;
const open = () => (openPart ??= import("./open.js").then((part) => (part.start(), part)));

/** @type {Promise<typeof import("./bulk.js")> | undefined} */
let bulkPart;
const bulk = () => (bulkPart ??= import("./bulk.js").then((part) => (part.start(), part)));

startTheme();
startTabs();
startToken();
play.start();

button("view-puzzle").addEventListener("click", () => showView("puzzle"));
button("view-bulk").addEventListener("click", () => {
  showView("bulk");
  use(bulk(), () => {});
});
button("open").addEventListener("click", () => byId("file", HTMLInputElement).click());
byId("file", HTMLInputElement).addEventListener("change", (event) => {
  const field = /** @type {HTMLInputElement} */ (event.target);
  const file = field.files?.[0];
  field.value = "";
  if (file) use(open(), (part) => part.openFile(file));
});
startLater(["create"], () => import("./create.js"));
startLater(["share"], () => import("./share.js"));
startLater(["hint"], () => import("./hint.js"));
startLater(["rate", "list-steps"], () => import("./study.js"));
startDrop();

page.onDraw(() => {
  const { isPuzzle } = page.position();
  for (const id of ["share", "rate", "list-steps"]) button(id).disabled = !isPuzzle;
  button("hint").disabled = !isPuzzle || page.hasScene();
});
page.draw();
page.say("Open a puzzle file, make a new puzzle, or enter one on the board.");

/** Loads the puzzle of the address, if it has one. */
function openLink() {
  if (location.hash.length > 1) use(import("./share.js"), (part) => part.openLink(location.hash));
}
addEventListener("hashchange", openLink);
openLink();
// Data sets are offered once the page is painted; most servers have none.
requestAnimationFrame(() =>
  setTimeout(() =>
    use(open(), (part) => {
      part.listDatasets();
      part.prepare();
    }),
  ),
);
