/** What a page of somebody else does in a browser: connect-web and grpc-web. Bundled by the test. */

import { fromBinary, toBinary, create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import grpcWeb from "grpc-web";

import { SERVICE, assertSolves, everyFailure, everyMethod, onlyWithToken, registryOf } from "./calls.js";

const EASY = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

const transports = {
  "connect-web, JSON": (baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: false }),
  "connect-web, binary": (baseUrl) => createConnectTransport({ baseUrl, useBinaryFormat: true }),
  "connect-web, gRPC-Web": (baseUrl) => createGrpcWebTransport({ baseUrl }),
};

function connect(name, baseUrl, descriptions) {
  const registry = registryOf(descriptions.map((bytes) => new Uint8Array(bytes)));
  return { registry, client: createClient(registry.getService(SERVICE), transports[name](baseUrl)) };
}

const page = /** @type {any} */ (window);

page.everyMethod = (name, baseUrl, descriptions, puzzles) =>
  everyMethod(connect(name, baseUrl, descriptions).client, { puzzles, streamsBothWays: false });

page.everyFailure = async (name, baseUrl, descriptions) => {
  const { registry, client } = connect(name, baseUrl, descriptions);
  await everyFailure(client, registry);
};

page.onlyWithToken = (name, baseUrl, descriptions, token) =>
  onlyWithToken(connect(name, baseUrl, descriptions).client, token);

/** grpc-web, the older client, by XMLHttpRequest. */
page.grpcWeb = async (format, baseUrl, descriptions) => {
  const registry = registryOf(descriptions.map((bytes) => new Uint8Array(bytes)));
  const client = new grpcWeb.GrpcWebClientBase({ format });
  const service = registry.getService(SERVICE);
  const call = (name, fields, metadata = {}) => {
    const method = service.methods.find((method) => method.name === name);
    const url = `${baseUrl}/${SERVICE}/${name}`;
    const isStream = method.methodKind === "server_streaming";
    const descriptor = new grpcWeb.MethodDescriptor(
      url,
      isStream ? grpcWeb.MethodType.SERVER_STREAMING : grpcWeb.MethodType.UNARY,
      Object,
      Object,
      (request) => toBinary(method.input, request),
      (bytes) => fromBinary(method.output, bytes),
    );
    const request = create(method.input, fields);
    return new Promise((resolve, reject) => {
      if (!isStream) {
        const answer = (error, response) => (error ? reject(error) : resolve(response));
        client.rpcCall(url, request, metadata, descriptor, answer);
        return;
      }
      const found = [];
      const stream = client.serverStreaming(url, request, metadata, descriptor);
      stream.on("data", (part) => found.push(part));
      stream.on("error", reject);
      stream.on("end", () => resolve(found));
    });
  };
  const { answers } = await call("Solve", { puzzle: EASY });
  assertSolves(answers[0].result.value, EASY);
  if (!(await call("Check", { puzzle: answers[0].result.value })).grids[0].solved) throw new Error("check");
  const failed = await call("Solve", { options: { order: 9 } }).catch((error) => error);
  if (failed.code !== 3 || !failed.message.startsWith("9 is no order")) throw new Error(`${failed}`);
  // Streams of this client are text only.
  if (format === "text") {
    const traced = await call("Trace", { puzzle: EASY });
    assertSolves(traced.at(-1).end.answer.result.value, EASY);
    const made = await call("Generate", { count: 2000n, seed: 3n });
    const bytes = made.reduce((sum, part) => sum + part.puzzles.length, 0);
    if (bytes !== 2000 * 82) throw new Error(`${bytes} bytes of puzzles`);
    const endless = { puzzle: ".".repeat(625), options: { strategy: "backtracking", nodeLimit: 10_000_000n, question: 2 } };
    const late = await call("Solve", endless, { deadline: String(Date.now() + 80) }).catch((error) => error);
    if (late.code !== 4) throw new Error(`${late.code}: ${late.message}`);
  }
};

/** A call as a page would make it that nobody allowed, with a plain form and with JSON. */
page.fetchIt = async (baseUrl, kind) => {
  const response = await fetch(`${baseUrl}/${SERVICE}/Solve`, {
    method: "POST",
    headers: { "content-type": kind },
    body: JSON.stringify({ puzzle: EASY }),
    mode: kind === "text/plain" ? "no-cors" : "cors",
  });
  return { type: response.type, status: response.status };
};

page.isReady = true;
