/** Small helpers for the document: elements by id with their type, new elements, numbers. */

/** Fields that have keys and pasted text for themselves, as a selector. */
export const TEXT_FIELDS = "input:not([type=checkbox], [type=range]), textarea";

/**
 * The element with this id.
 * @template {Element} T
 * @param {string} id
 * @param {new () => T} type
 * @returns {T}
 */
export function byId(id, type) {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`The page has no ${type.name} #${id}.`);
}

/**
 * A button of the page.
 * @param {string} id
 */
export function button(id) {
  return byId(id, HTMLButtonElement);
}

/**
 * A new element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string>} [attributes]
 * @param {...(Node | string)} children
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const grouped = new Intl.NumberFormat("en-US");

/**
 * A number with its thousands apart.
 * @param {number} value
 */
export function count(value) {
  return grouped.format(value);
}

/**
 * A number and its noun: `1 clue`, `2 clues`, `2 guesses`.
 * @param {number} value
 * @param {string} noun
 */
export function plural(value, noun) {
  const ending = noun.endsWith("s") ? "es" : "s";
  return `${count(value)} ${noun}${value === 1 ? "" : ending}`;
}

/**
 * A whole number from a field, or null if it holds none within its bounds.
 * @param {HTMLInputElement} field
 */
export function wholeNumber(field) {
  const value = field.valueAsNumber;
  return field.checkValidity() && Number.isInteger(value) ? value : null;
}

/**
 * Offers a blob as a file.
 * @param {Blob} blob
 * @param {string} name
 */
export function download(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  // The download reads the blob after this function has returned.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
