/** Clients of Node against every way in: @grpc/grpc-js, @connectrpc/connect-node, fetch and Python. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

import { Code, createClient } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

import { SERVICE, assertSolves, everyFailure, everyMethod, onlyWithToken, registryOf, tooLong } from "./calls.js";
import { TOKEN, cleanUp, describe as descriptions, files, makeCertificate, puzzles, startServer } from "./server.js";

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, "../..");
const hasCertificate = makeCertificate();
const noCertificate = hasCertificate ? false : "SKIPPED: there is no openssl to make a certificate";

/** Every message packed, and unary calls by GET. */
const PACKED = { sendCompression: compressionGzip, compressMinBytes: 0, useHttpGet: true };

/** All transports of connect-node: a name, how it is made, and whether it streams both ways at once. */
const TRANSPORTS = [
  ["gRPC", (options) => createGrpcTransport(options), true],
  ["gRPC, gzip", (options) => createGrpcTransport({ ...options, sendCompression: compressionGzip, compressMinBytes: 0 }), true],
  ["gRPC-Web over HTTP/1.1", (options) => createGrpcWebTransport({ ...options, httpVersion: "1.1" }), false],
  ["gRPC-Web over HTTP/2", (options) => createGrpcWebTransport({ ...options, httpVersion: "2" }), true],
  ["Connect, JSON over HTTP/1.1", (options) => createConnectTransport({ ...options, httpVersion: "1.1", useBinaryFormat: false }), false],
  ["Connect, JSON over HTTP/2", (options) => createConnectTransport({ ...options, httpVersion: "2", useBinaryFormat: false }), true],
  ["Connect, binary over HTTP/1.1", (options) => createConnectTransport({ ...options, httpVersion: "1.1" }), false],
  ["Connect, binary over HTTP/2", (options) => createConnectTransport({ ...options, httpVersion: "2" }), true],
  ["Connect, JSON, gzip, GET", (options) => createConnectTransport({ ...options, ...PACKED, httpVersion: "1.1", useBinaryFormat: false }), false],
  ["Connect, binary, gzip, GET", (options) => createConnectTransport({ ...options, ...PACKED, httpVersion: "2" }), true],
];

let plain, guarded, full, encrypted, registry;
before(async () => {
  plain = await startServer();
  guarded = await startServer("--token-file", files.tokens);
  full = await startServer("--max-streams", "1");
  if (hasCertificate) {
    encrypted = await startServer("--tls-cert", files.certificate, "--tls-key", files.key);
  }
  registry = registryOf(await descriptions(plain.address, SERVICE));
});
after(cleanUp);

describe("connect-node", () => {
  for (const [name, make, streamsBothWays] of TRANSPORTS) {
    const client = (server, options = {}) =>
      createClient(registry.getService(SERVICE), make({ baseUrl: `http://${server.address}`, ...options }));
    test(`${name}: every method`, { timeout: 60_000 }, async () => {
      const before = await plain.figure("sudoku_calls_total", 'status="OK"');
      const calls = await everyMethod(client(plain), { puzzles, streamsBothWays });
      const counted = (await plain.figure("sudoku_calls_total", 'status="OK"')) - before;
      assert.equal(counted, calls, "every call is counted once");
    });
    test(`${name}: failures`, { timeout: 60_000 }, () => everyFailure(client(plain), registry));
    test(`${name}: tokens`, { timeout: 60_000 }, () => onlyWithToken(client(guarded), TOKEN));
    test(`${name}: limits`, { timeout: 60_000 }, () => tooLong(client(plain)));
    test(`${name}: encrypted`, { timeout: 60_000, skip: noCertificate }, async () => {
      const baseUrl = `https://${encrypted.address}`;
      const nodeOptions = { ca: fs.readFileSync(files.certificate) };
      await everyMethod(client(encrypted, { baseUrl, nodeOptions }), { puzzles, streamsBothWays });
    });
  }
});

describe("calls at once", () => {
  for (const [name, make] of TRANSPORTS) {
    test(`${name}: no more than --max-streams`, { timeout: 60_000 }, async () => {
      const client = createClient(registry.getService(SERVICE), make({ baseUrl: `http://${full.address}` }));
      const leaving = new AbortController();
      const stream = client.generate({ count: 1_000_000n, randomClues: 20 }, { signal: leaving.signal });
      // It has begun, and nobody takes the rest of it.
      await stream[Symbol.asyncIterator]().next();
      await assert.rejects(client.solve({ puzzle: puzzles[0] }), (error) => {
        const [info] = error.findDetails(registry.getMessage("google.rpc.ErrorInfo"));
        return error.code === Code.ResourceExhausted && /REACHED$/.test(info.reason);
      });
      leaving.abort();
      // The next one is let in as soon as the first has ended.
      for (;;) {
        const answered = await client.solve({ puzzle: puzzles[0] }).catch((error) => error);
        if (answered.answers) return assertSolves(answered.answers[0].result.value, puzzles[0]);
        assert.equal(answered.code, Code.ResourceExhausted);
      }
    });
  }
});

describe("grpc-js", () => {
  const { SudokuService } = grpc.loadPackageDefinition(
    protoLoader.loadSync("sudoku/v1/sudoku.proto", { includeDirs: [path.join(root, "proto")] }),
  ).sudoku.v1;
  const open = (server, credentials = grpc.credentials.createInsecure()) =>
    new SudokuService(server.address, credentials);
  const unary = (client, method, request, ...rest) => promisify(client[method]).call(client, request, ...rest);
  const parts = (call) => {
    const found = [];
    return new Promise((resolve, reject) => {
      call.on("data", (part) => found.push(part));
      call.on("error", reject);
      call.on("end", () => resolve(found));
    });
  };
  const bearer = (token) => {
    const metadata = new grpc.Metadata();
    metadata.set("authorization", `Bearer ${token}`);
    return metadata;
  };

  const useIt = async (client) => {
    const text = Buffer.from(puzzles.join("\n"));
    const { answers } = await unary(client, "solve", { text });
    answers.forEach((answer, at) => assertSolves(answer.solution, puzzles[at]));
    assert.equal((await unary(client, "check", { puzzle: answers[0].solution })).grids[0].solved, true);
    assert.equal((await unary(client, "validate", { text })).puzzles.toString(), "6");
    assert.equal((await unary(client, "count", { puzzle: "12.............." })).count.toString(), "24");
    assert.match((await unary(client, "hint", { puzzle: puzzles[0] })).message, /^\(\d, \d\) is \d/);
    assert.equal((await unary(client, "listDatasets", {})).datasets[0].name, "six.txt");
    assert.equal((await unary(client, "getPuzzle", { name: "six.txt", index: 2 })).puzzle, puzzles[1]);
    const traced = await parts(client.trace({ puzzle: puzzles[0] }));
    assertSolves(traced.at(-1).end.answer.solution, puzzles[0]);
    const made = Buffer.concat((await parts(client.generate({ count: 50, seed: 3 }))).map((part) => part.puzzles));
    assert.equal(made.toString().trimEnd().split("\n").length, 50);
    const solved = Buffer.concat((await parts(client.solveDataset({ name: "six.txt" }))).map((part) => part.lines));
    assert.equal(solved.toString(), `${answers.map((answer) => answer.solution).join("\n")}\n`);
    const stream = client.solveLines();
    const answered = parts(stream);
    for (let message = 0; message < 100; message++) stream.write({ lines: text });
    stream.end();
    const responses = await answered;
    assert.equal(responses.length, 100);
    for (const { lines } of responses) assert.equal(lines.toString(), solved.toString());
    const batches = client.solveStream();
    const batch = parts(batches);
    batches.write({ batchId: 7, puzzles: puzzles.map((puzzle) => Buffer.from(puzzle)) });
    batches.end();
    assert.equal((await batch)[0].answers[5].solution, answers[5].solution);
  };

  test("every method", { timeout: 60_000 }, () => useIt(open(plain)));

  test("failures", { timeout: 60_000 }, async () => {
    const client = open(plain);
    await assert.rejects(unary(client, "solve", { options: { order: 9 } }), { code: grpc.status.INVALID_ARGUMENT });
    const endless = { puzzle: ".".repeat(625), countLimit: 1e12, nodeLimit: 1e7, strategy: "backtracking" };
    const late = unary(client, "count", endless, { deadline: Date.now() + 60 });
    await assert.rejects(late, { code: grpc.status.DEADLINE_EXCEEDED });
    const long = unary(client, "validate", { puzzle: "1".repeat(2_000_000) });
    await assert.rejects(long, { code: grpc.status.RESOURCE_EXHAUSTED });
    const leaving = client.generate({ count: 1e6, randomClues: 5 });
    leaving.once("data", () => leaving.cancel());
    await assert.rejects(parts(leaving), { code: grpc.status.CANCELLED });
  });

  test("tokens", { timeout: 60_000 }, async () => {
    const client = open(guarded);
    await assert.rejects(unary(client, "solve", {}), { code: grpc.status.UNAUTHENTICATED });
    await assert.rejects(unary(client, "solve", {}, bearer("wrong-token-wrong-token")), { code: grpc.status.UNAUTHENTICATED });
    const { answers } = await unary(client, "solve", { puzzle: puzzles[0] }, bearer(TOKEN));
    assertSolves(answers[0].solution, puzzles[0]);
  });

  test("encrypted", { timeout: 60_000, skip: noCertificate }, () =>
    useIt(open(encrypted, grpc.credentials.createSsl(fs.readFileSync(files.certificate)))));
});

describe("fetch", () => {
  test("an object in, an object out", async () => {
    const response = await fetch(`http://${plain.address}/${SERVICE}/Solve`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ puzzle: puzzles[0] }),
    });
    assert.equal(response.status, 200);
    assertSolves((await response.json()).answers[0].solution, puzzles[0]);
  });
});

const python = process.env.PYTHON;
const noPython = python ? false : "SKIPPED: there is no Python with grpcio";

describe("Python", () => {
  const use = async (...args) => {
    const { stdout } = await run(python, [path.join(import.meta.dirname, "python_client.py"), ...args]);
    assert.match(stdout, /^\d+ calls as they should be\n$/);
  };
  test("grpcio and http.client", { timeout: 120_000, skip: noPython }, () => use(plain.address));
  test("with a token", { timeout: 120_000, skip: noPython }, () => use(guarded.address, "--token", TOKEN));
  test("encrypted", { timeout: 120_000, skip: noPython || noCertificate }, () =>
    use(encrypted.address, "--ca", files.certificate));
});

describe("drain", () => {
  for (const [name, make] of TRANSPORTS) {
    test(`${name}: what was read is answered, streams say that the server stops`, { timeout: 240_000 }, async () => {
      // As long as the count takes beside busy programs: it is cut short by nothing but its nodes.
      const server = await startServer("--drain-timeout", "200s", "--max-puzzle-time", "200s");
      const client = createClient(registry.getService(SERVICE), make({ baseUrl: `http://${server.address}` }));
      const hard = { puzzle: ".".repeat(625), countLimit: 1_000_000_000_000n, strategy: "backtracking" };
      let counting;
      let stopped;
      const streaming = (async () => {
        for await (const _ of client.generate({ count: 1_000_000n, randomClues: 20 })) {
          if (stopped) continue;
          // Begun only now, because it must be open when the server stops, however slow the stream was to begin.
          let isOver = false;
          counting = client.count({ ...hard, nodeLimit: 2_000_000n }).finally(() => (isOver = true));
          while ((await server.figure("sudoku_calls_open ")) < 2) {
            assert.ok(!isOver, "the count ended before the server was asked for it");
            await setTimeout(10);
          }
          // It is open from its headers on, and answered only if its message has been read.
          await setTimeout(150);
          stopped = server.stop();
        }
      })();
      await assert.rejects(streaming, (error) => error.code === Code.Unavailable && /shutting down/.test(error.message));
      const { result } = await counting;
      assert.equal(result.case, "error", name);
      assert.match(result.value.message, /was given up after 2000000 nodes/);
      assert.equal(await stopped, 0, name);
    });
  }
});
