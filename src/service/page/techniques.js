/** The techniques of the server, with a text about each. */

/**
 * A technique.
 * @typedef {object} Technique
 * @property {string} name as in requests
 * @property {string} title as in sentences
 * @property {number} ratingTenths the lowest rating of its steps
 * @property {string} about what it is
 */

/** @type {Promise<Technique[]> | null} */
let loaded = null;

/** All techniques, the easiest first; none while the server is away, because they only explain. */
export function techniques() {
  loaded ??= fetch("techniques.json").then((response) => response.json());
  return loaded.catch((error) => {
    console.debug(error);
    loaded = null;
    return /** @type {Technique[]} */ ([]);
  });
}
