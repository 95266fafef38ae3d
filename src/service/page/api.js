/**
 * Calls of the service, in the Connect protocol: JSON, binary, and streams of JSON.
 *
 * Used by the page and by its workers. A call that the server refuses for want of a token asks for
 * one (`useToken`), and is sent again.
 */

const SERVICE = "/sudoku.v1.SudokuService/";

/** The flag of the last envelope of a stream. */
const END_OF_STREAM = 2;

/**
 * The flags of the program `sudoku` that mend a text, by the options of the server, which the page
 * does not have.
 * @type {Record<string, string>}
 */
const FLAGS = {
  "options.alphabet": "--alphabet",
  "options.column": "--column",
  "options.notation": "--notation",
};

/** The program that serves the page, as people start it. */
let program = globalThis.document?.documentElement.dataset.program ?? "";

/** The program that serves the page. */
export function currentProgram() {
  return program;
}

/**
 * Sets the program that serves the page, where there is no document that names it.
 * @param {string} name
 */
export function useProgram(name) {
  program = name;
}

/** What is said of a part of the page that cannot be loaded. */
export function partMissing() {
  return `A part of the page cannot be loaded. Check that ${program} runs, then try again.`;
}

/**
 * What a message has too much of for the server, by the reason of the refusal.
 * @type {Record<string, "bytes" | "lines">}
 */
const UNITS = { MESSAGE_BYTES_REACHED: "bytes", MESSAGE_LINES_REACHED: "lines" };


/** A call that failed. */
export class CallError extends Error {
  /**
   * @param {string} code the code of Connect, such as `invalid_argument`
   * @param {string} message
   * @param {{type: string, debug?: any}[]} [details]
   */
  constructor(code, message, details) {
    const info = details?.find(({ type }) => type === "google.rpc.ErrorInfo")?.debug;
    const { problem, field } = info?.metadata ?? {};
    const flag = FLAGS[field];
    const advice = `Solve it with the program sudoku, and say there which with ${flag}.`;
    super(problem && flag ? `${problem} ${advice}` : message);
    this.code = code;
    /** Why the server refused it, if it did. @type {string} */
    this.reason = info?.reason ?? "";
    const unit = UNITS[this.reason];
    /** The limit of the server that a message has reached, if that is the error. */
    this.limit = unit ? { unit, value: Number(info.metadata?.value) } : null;
  }
}

/** @type {string | null} */
let token = null;

/** @type {(refused: string | null) => Promise<string>} */
let askForToken = () => Promise.reject(new CallError("unauthenticated", "The server wants a token."));

/**
 * Sets the token, and how to get one. The question is given the token that was refused, if any, and
 * rejects if nobody answers it.
 * @param {string | null} known
 * @param {(refused: string | null) => Promise<string>} ask
 */
export function useToken(known, ask) {
  token = known;
  askForToken = ask;
}

/** The token of this tab. */
export function currentToken() {
  return token;
}

/** The question that is open, so that several calls ask once. @type {Promise<string> | null} */
let asking = null;

/**
 * The token instead of one that was refused: a newer one, or what a person answers.
 * @param {string | null} refused
 */
export async function tokenInsteadOf(refused) {
  if (token === refused) {
    asking ??= askForToken(refused).finally(() => (asking = null));
    token = await asking;
  }
  return token;
}

/**
 * @param {string} method
 * @param {string} type
 * @param {BodyInit} body
 * @param {AbortSignal | undefined} signal
 */
async function post(method, type, body, signal) {
  /** @type {Record<string, string>} */
  const headers = { "content-type": type, "connect-protocol-version": "1" };
  if (token) {
    // No server has given out such a token, and the browser would not send it.
    if (/[^\x20-\x7e]/.test(token)) return new Response(null, { status: 401 });
    headers.authorization = `Bearer ${token}`;
  }
  const sent = fetch(SERVICE + method, { method: "POST", headers, body, signal, cache: "no-store" });
  return arrived(
    sent.catch(async (error) => {
      // A file that has changed on the disk cannot be sent either; reading it says so.
      if (body instanceof Blob && !signal?.aborted) await body.slice(-1).arrayBuffer();
      throw error;
    }),
    signal,
  );
}

/**
 * What comes from the server, or the sentence that it does not answer.
 * @template T
 * @param {Promise<T>} answer
 * @param {AbortSignal | undefined} signal
 */
async function arrived(answer, signal) {
  try {
    return await answer;
  } catch (error) {
    // Only the network fails with a TypeError.
    if (signal?.aborted || !(error instanceof TypeError)) throw error;
    throw new CallError(
      "unavailable",
      `The server at ${location.host} does not answer. Check that ${program} runs, then try again.`,
    );
  }
}

/**
 * Sends a request, and again with a token if the server wants one.
 * @param {string} method
 * @param {string} type
 * @param {BodyInit} body
 * @param {AbortSignal | undefined} signal
 * @param {boolean} isQuiet whether nobody is asked for a token
 * @returns {Promise<Response>} a response with status 200
 */
async function send(method, type, body, signal, isQuiet = false) {
  for (;;) {
    const sent = token;
    const response = await post(method, type, body, signal);
    if (response.ok) return answerOf(response, type);
    const error = await errorOf(response, signal);
    if (error.code !== "unauthenticated" || isQuiet) throw error;
    await newToken(sent);
  }
}

/**
 * A response in the form of its request. What is between here and the server may answer instead of
 * it, such as with a page to log in at.
 * @param {Response} response
 * @param {string} type
 */
function answerOf(response, type) {
  if (response.headers.get("content-type")?.startsWith(type)) return response;
  throw new CallError(
    "unknown",
    `The server at ${location.host} does not answer as ${program} does. Reload the page, then try again.`,
  );
}

/**
 * Waits for a token instead of one that was refused.
 * @param {string | null} refused
 */
async function newToken(refused) {
  try {
    await tokenInsteadOf(refused);
  } catch {
    throw new CallError("unauthenticated", "The server wants a token. Try again to enter one.");
  }
}

/**
 * The error that a response carries.
 * @param {Response} response
 * @param {AbortSignal | undefined} signal
 */
async function errorOf(response, signal) {
  const text = await arrived(response.text(), signal);
  try {
    const { code, message, details } = JSON.parse(text);
    if (typeof message === "string") return new CallError(String(code), message || String(code), details);
  } catch {
    // No JSON: something between here and the server answered.
  }
  const code = response.status === 401 ? "unauthenticated" : "unknown";
  return new CallError(code, `The server answered with the status ${response.status}.`);
}

/**
 * Calls a method with a JSON request.
 * @param {string} method
 * @param {object} request
 * @param {{signal?: AbortSignal, isQuiet?: boolean}} [options]
 * @returns {Promise<any>}
 */
export async function call(method, request, { signal, isQuiet } = {}) {
  const body = JSON.stringify(request);
  const response = await send(method, "application/json", body, signal, isQuiet);
  return arrived(response.json(), signal);
}

/**
 * Calls a method with a request in protobuf.
 * @param {string} method
 * @param {Blob} request
 * @param {AbortSignal} [signal]
 */
export async function callBinary(method, request, signal) {
  const response = await send(method, "application/proto", request, signal);
  return new Uint8Array(await arrived(response.arrayBuffer(), signal));
}

/**
 * The head of an envelope.
 * @param {number} length
 */
function envelopeHead(length) {
  const head = new Uint8Array(5);
  new DataView(head.buffer).setUint32(1, length);
  return head;
}

/**
 * Throws the error that the last envelope of a stream carries, if any.
 * @param {Uint8Array} payload
 */
function endOf(payload) {
  const { error } = JSON.parse(new TextDecoder().decode(payload));
  if (error) throw new CallError(String(error.code), error.message || String(error.code), error.details);
}

/**
 * Calls a streaming method with one request in protobuf.
 * @param {string} method
 * @param {Blob} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<Uint8Array<ArrayBuffer>[]>} the messages
 */
export async function streamBinary(method, request, signal) {
  for (;;) {
    const sent = token;
    const body = new Blob([envelopeHead(request.size), request]);
    const response = await send(method, "application/connect+proto", body, signal);
    const bytes = new Uint8Array(await arrived(response.arrayBuffer(), signal));
    const view = new DataView(bytes.buffer);
    const messages = [];
    let at = 0;
    try {
      while (at + 5 <= bytes.length) {
        const end = at + 5 + view.getUint32(at + 1);
        const payload = bytes.subarray(at + 5, end);
        if (bytes[at] & END_OF_STREAM) {
          endOf(payload);
          return messages;
        }
        messages.push(payload);
        at = end;
      }
      throw new CallError("data_loss", "The answer of the server broke off. Try again.");
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== "unauthenticated") throw error;
      await newToken(sent);
    }
  }
}

/**
 * Calls a server-streaming method with a JSON request. The server is read only as fast as messages
 * are taken.
 * @param {string} method
 * @param {object} request
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<any, void>}
 */
export async function* stream(method, request, signal) {
  const payload = new TextEncoder().encode(JSON.stringify(request));
  const body = new Blob([envelopeHead(payload.length), payload]);
  for (;;) {
    const sent = token;
    const response = await send(method, "application/connect+json", body, signal);
    let hasBegun = false;
    try {
      for await (const message of envelopes(response, signal)) {
        hasBegun = true;
        yield message;
      }
      return;
    } catch (error) {
      // Errors of a stream come with status 200. A token that is refused in its midst was taken out of
      // the file, and what was shown is not to come again.
      if (hasBegun || !(error instanceof CallError) || error.code !== "unauthenticated") throw error;
      await newToken(sent);
    }
  }
}

/**
 * @param {Response} response
 * @param {AbortSignal} signal
 * @returns {AsyncGenerator<any, void>}
 */
async function* envelopes(response, signal) {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new TextDecoder();
  let kept = new Uint8Array(0);
  try {
    for (;;) {
      const { done, value } = await arrived(reader.read(), signal);
      if (done) throw new CallError("data_loss", "The answer of the server broke off. Try again.");
      const bytes = new Uint8Array(kept.length + value.length);
      bytes.set(kept);
      bytes.set(value, kept.length);
      const view = new DataView(bytes.buffer);
      let at = 0;
      while (at + 5 <= bytes.length) {
        const end = at + 5 + view.getUint32(at + 1);
        if (end > bytes.length) break;
        const payload = bytes.subarray(at + 5, end);
        if (bytes[at] & END_OF_STREAM) {
          // Reading on to the end leaves the connection to the next call.
          while (!(await arrived(reader.read(), signal)).done);
          return endOf(payload);
        }
        yield JSON.parse(decoder.decode(payload));
        at = end;
      }
      kept = bytes.slice(at);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}
