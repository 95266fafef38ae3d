/** Servers for the tests of clients: `sudokud` on a free port, and its description of itself. */

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import grpc from "@grpc/grpc-js";
import protoLoader from "@grpc/proto-loader";

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../..");
const sudokud = process.env.SUDOKUD ?? path.join(root, "target/debug/sudokud");

/** A folder for files of this run. */
export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "sudoku-clients-"));

export const TOKEN = "a-token-of-the-tests-0123456789abcdef";

/** Files of the servers: tokens, a data set, and a certificate for 127.0.0.1. */
export const files = {
  tokens: path.join(scratch, "tokens"),
  data: path.join(scratch, "data"),
  certificate: path.join(scratch, "cert.pem"),
  key: path.join(scratch, "key.pem"),
};

/** The puzzles of the data set, and of the streams. */
export const puzzles = fs
  .readFileSync(path.join(root, "tests/fixtures/good/nine.header"), "utf8")
  .split("\n")
  .slice(1, 7);

fs.writeFileSync(files.tokens, `${TOKEN}\n`, { mode: 0o600 });
fs.mkdirSync(files.data);
fs.writeFileSync(path.join(files.data, "six.txt"), `${puzzles.join("\n")}\n`);

/** Makes a certificate. False where there is no openssl. */
export function makeCertificate() {
  const subject = ["-subj", "/CN=test", "-addext", "subjectAltName=IP:127.0.0.1"];
  const kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1"];
  const out = ["-keyout", files.key, "-out", files.certificate];
  try {
    execFileSync("openssl", ["req", ...kind, ...subject, ...out], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** The servers that run. @type {Set<import("node:child_process").ChildProcess>} */
const running = new Set();

/**
 * Starts a server on a free port.
 * @param {string[]} options
 */
export async function startServer(...options) {
  const flags = ["--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0", "--data-dir", files.data];
  const child = spawn(sudokud, [...flags, ...options], { stdio: ["ignore", "ignore", "pipe"] });
  running.add(child);
  const ended = new Promise((resolve) => child.on("exit", resolve));
  ended.then(() => running.delete(child));
  let log = "";
  const found = await new Promise((resolve, reject) => {
    child.on("error", reject);
    ended.then((code) => reject(new Error(`${sudokud} ended with ${code}:\n${log}`)));
    child.stderr.on("data", (bytes) => {
      log += bytes;
      const plain = log.replaceAll(/\x1b\[[0-9;]*m/g, "");
      const address = /listening on (127\.0\.0\.1:\d+)/.exec(plain);
      const metrics = /serving metrics on (http:\S+)/.exec(plain);
      if (address && metrics) resolve({ address: address[1], metrics: metrics[1] });
    });
  });
  return {
    ...found,
    /** Asks the server to drain, and waits for its end. Returns its exit code. */
    stop: () => {
      child.kill("SIGTERM");
      return ended;
    },
    /** A figure of the server: the sum over all labels that match. */
    figure: async (name, ...labels) => {
      const text = await (await fetch(found.metrics)).text();
      const lines = text.split("\n").filter((line) => line.startsWith(name) && labels.every((it) => line.includes(it)));
      return lines.reduce((sum, line) => sum + Number(line.split(" ").pop()), 0);
    },
  };
}

/** Stops all servers and removes all files. */
export async function cleanUp() {
  for (const child of running) child.kill("SIGKILL");
  fs.rmSync(scratch, { recursive: true, force: true });
}

/** The descriptions of the files of a service, in binary form, by reflection. */
export function describe(address, symbol) {
  const loaded = protoLoader.loadSync("reflection.proto", { includeDirs: [here], keepCase: true });
  const { ServerReflection } = grpc.loadPackageDefinition(loaded).grpc.reflection.v1;
  const client = new ServerReflection(address, grpc.credentials.createInsecure());
  return new Promise((resolve, reject) => {
    const call = client.ServerReflectionInfo();
    call.on("data", (answer) => resolve(answer.file_descriptor_response.file_descriptor_proto));
    call.on("error", reject);
    call.on("end", () => client.close());
    call.end({ file_containing_symbol: symbol });
  });
}
