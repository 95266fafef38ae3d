/**
 * What the tab keeps over a reload: choices, the token, the board. Where the browser blocks storage,
 * or has no room, nothing is kept, and all else works.
 */

/** @returns {Storage | null} */
function allowed() {
  try {
    return window.sessionStorage;
  } catch (error) {
    console.debug(error);
    return null;
  }
}

const storage = allowed();

/**
 * The text that is kept by this name.
 * @param {string} name
 */
export function kept(name) {
  return storage?.getItem(name) ?? null;
}

/**
 * Keeps a text. Without room nothing is kept, because a reload must not take an older text for this one.
 * @param {string} name
 * @param {string} text
 */
export function keep(name, text) {
  try {
    storage?.setItem(name, text);
  } catch (error) {
    console.debug(error);
    forget(name);
  }
}

/** @param {string} name */
export function forget(name) {
  storage?.removeItem(name);
}
