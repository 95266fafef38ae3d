/** Clients in a browser, on a page of another origin: connect-web and grpc-web. */

import assert from "node:assert/strict";
import http from "node:http";
import path from "node:path";
import { after, before, describe, test } from "node:test";

import { build } from "esbuild";
import { chromium } from "playwright-core";

import { SERVICE } from "./calls.js";
import { TOKEN, cleanUp, describe as descriptions, files, puzzles, startServer } from "./server.js";

let host, origin, browser, page, allowing, guarded, closed, described;

before(async () => {
  const bundle = await build({
    entryPoints: [path.join(import.meta.dirname, "browser.js")],
    bundle: true,
    format: "esm",
    write: false,
    logLevel: "error",
  });
  const script = bundle.outputFiles[0].text;
  host = http.createServer((request, response) => {
    const isScript = request.url === "/client.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
    response.end(isScript ? script : `<!doctype html><link rel="icon" href="data:,"><script type="module" src="client.js"></script>`);
  });
  await new Promise((resolve) => host.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${host.address().port}`;
  allowing = await startServer("--allow-origin", origin);
  guarded = await startServer("--allow-origin", origin, "--token-file", files.tokens);
  closed = await startServer();
  described = (await descriptions(allowing.address, SERVICE)).map((bytes) => [...bytes]);
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-dev-shm-usage", "--host-resolver-rules=MAP evil.example 127.0.0.1"],
  });
  page = await browser.newPage();
  await page.goto(origin);
  await page.waitForFunction(() => window.isReady);
});
after(async () => {
  await browser?.close();
  host?.close();
  await cleanUp();
});

const timeout = 60_000;

for (const name of ["connect-web, JSON", "connect-web, binary", "connect-web, gRPC-Web"]) {
  describe(name, () => {
    const use = (what, server, ...rest) =>
      page.evaluate(([what, ...args]) => window[what](...args), [what, name, `http://${server.address}`, described, ...rest]);
    test("every method", { timeout }, () => use("everyMethod", allowing, puzzles));
    test("failures", { timeout }, () => use("everyFailure", allowing));
    test("tokens", { timeout }, () => use("onlyWithToken", guarded, TOKEN));
    test("a page from elsewhere is refused", { timeout }, async () => {
      const before = await closed.figure("sudoku_calls_total");
      await assert.rejects(use("everyMethod", closed, puzzles), /Failed to fetch/);
      assert.equal(await closed.figure("sudoku_calls_total"), before, "no call is made");
      assert.ok((await closed.figure("sudoku_calls_refused_total", 'reason="origin"')) > 0);
    });
  });
}

describe("grpc-web", () => {
  for (const format of ["binary", "text"]) {
    const use = (server) =>
      page.evaluate(([...args]) => window.grpcWeb(...args), [format, `http://${server.address}`, described]);
    test(`${format}: calls`, { timeout }, () => use(allowing));
    test(`${format}: a page from elsewhere is refused`, { timeout }, () => assert.rejects(use(closed)));
  }
});

describe("pages from elsewhere", () => {
  test("a call that needs no preflight is refused as well", { timeout }, async () => {
    const before = await closed.figure("sudoku_calls_total");
    const seen = await page.evaluate((url) => window.fetchIt(url, "text/plain"), `http://${closed.address}`);
    assert.deepEqual(seen, { type: "opaque", status: 0 });
    assert.equal(await closed.figure("sudoku_calls_total"), before, "no call is made");
  });

  test("a name that was made to resolve to this machine is refused", { timeout }, async () => {
    const port = closed.address.split(":")[1];
    const rebound = await browser.newPage();
    const response = await rebound.goto(`http://evil.example:${port}/`);
    assert.equal(response.status(), 403);
    assert.match(await response.text(), /is not called `evil\.example:\d+`/);
    const status = await rebound.evaluate(async (path) => {
      const headers = { "content-type": "application/json" };
      return (await fetch(path, { method: "POST", headers, body: "{}" })).status;
    }, `/${SERVICE}/ListDatasets`);
    assert.equal(status, 403);
    await rebound.close();
  });
});
