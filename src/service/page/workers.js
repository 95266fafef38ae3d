/** Workers: starting them, and giving them what only the page has: the token, and the name of the program. */

import { currentProgram, currentToken, partMissing, tokenInsteadOf, useProgram, useToken } from "./api.js";

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
    receive({ type: "failure", message: partMissing() });
  };
  worker.postMessage({ type: "start", token: currentToken(), program: currentProgram() });
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
      useProgram(data.program);
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
