/** Workers: starting them, and giving them the token, for which only the page can ask. */

import { currentToken, tokenInsteadOf, useToken } from "./api.js";

/**
 * Starts a worker.
 * @param {string} file its module
 * @param {(message: any) => void} receive
 * @param {() => void} ended called when it has failed, such as by a server that was away
 */
export function startWorker(file, receive, ended) {
  const worker = new Worker(new URL(file, import.meta.url), { type: "module" });
  worker.onmessage = async ({ data }) => {
    if (data.type !== "token") return receive(data);
    const token = await tokenInsteadOf(data.refused).catch(() => null);
    worker.postMessage({ type: "token", token });
  };
  worker.onerror = () => {
    worker.terminate();
    ended();
    receive({
      type: "failure",
      message: "A part of the page cannot be loaded. Check that sudokud runs, then try again.",
    });
  };
  worker.postMessage({ type: "start", token: currentToken() });
  return worker;
}

/**
 * Receives the messages of the page, inside of a worker.
 * @param {(message: any) => void} receive
 */
export function inWorker(receive) {
  /** @type {((token: string | null) => void) | null} */
  let answer = null;
  self.onmessage = ({ data }) => {
    if (data.type === "token") {
      answer?.(data.token);
    } else if (data.type === "start") {
      useToken(data.token, (refused) => {
        self.postMessage({ type: "token", refused });
        return new Promise((resolve, reject) => {
          answer = (token) => (token === null ? reject(new Error("no token")) : resolve(token));
        });
      });
    } else {
      receive(data);
    }
  };
}
