/**
 * The harness of the tests in a browser: a `sudokud`, a headless Chromium, and pages that are
 * watched for errors while a test uses them.
 */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";

const require = createRequire(import.meta.url);
const axeSource = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const root = path.resolve(fileURLToPath(import.meta.url), "../../..");

/** The fixtures of all tests of the repository. */
export const fixtures = path.join(root, "tests/fixtures");

const sudokud = process.env.SUDOKUD ?? path.join(root, "target/debug/sudokud");
const chromiumPath = process.env.CHROMIUM ?? "/usr/bin/chromium";
const screenshots = process.env.SCREENSHOTS ?? path.join(root, "target/page-screenshots");
fs.mkdirSync(screenshots, { recursive: true });

/** How pages are looked at. */
export const VARIANTS = [
  { width: 1280, height: 800, colors: "light" },
  { width: 1280, height: 800, colors: "dark" },
  { width: 390, height: 844, colors: "light" },
  { width: 390, height: 844, colors: "dark" },
];

/** A folder for files of this run. */
export const scratch = fs.mkdtempSync(path.join(os.tmpdir(), "sudoku-page-"));

/**
 * Writes a file of this run.
 * @param {string} name
 * @param {string | Buffer} content
 */
export function write(name, content) {
  const file = path.join(scratch, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
  return file;
}

/** The servers that run. @type {Set<import("node:child_process").ChildProcess>} */
const servers = new Set();

/**
 * Starts a server, on a free port unless the options have one.
 * @param {string[]} options
 */
export async function startServer(...options) {
  const listen = options.includes("--listen") ? [] : ["--listen", "127.0.0.1:0"];
  const child = spawn(sudokud, [...listen, ...options], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  servers.add(child);
  child.on("exit", () => servers.delete(child));
  let log = "";
  const url = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (code) => reject(new Error(`${sudokud} ended with ${code}:\n${log}`)));
    child.stderr.on("data", (bytes) => {
      log += bytes;
      const found = /listening on (?:https?:\/\/)?(127\.0\.0\.\d:\d+)/.exec(
        log.replaceAll(/\x1b\[[0-9;]*m/g, ""),
      );
      if (found) resolve(`http://${found[1]}/`);
    });
  });
  return {
    url,
    stop: () => stop(child),
    /** Lets calls wait until the server goes on. */
    pause: () => child.kill("SIGSTOP"),
    goOn: () => child.kill("SIGCONT"),
    /** Ends the server in the middle of its answers. */
    kill: () => child.kill("SIGKILL"),
  };
}

/** @param {import("node:child_process").ChildProcess} child */
function stop(child) {
  return new Promise((resolve) => {
    if (child.exitCode !== null) return resolve();
    child.on("exit", resolve);
    child.kill("SIGTERM");
  });
}

/** Stops all servers, those of tests that failed too. */
export async function stopServers() {
  await Promise.all([...servers].map(stop));
}

export const browser = await chromium.launch({
  executablePath: chromiumPath,
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
});

/**
 * A page that a test uses, with what a person does on it.
 */
export class Visit {
  /** What the browser complains about. @type {string[]} */
  complaints = [];
  /** Complaints that a test brings about. @type {RegExp[]} */
  expected = [];

  static async to(url, variant = VARIANTS[0], options = {}) {
    const { width, height, colors } = variant;
    const isPhone = width < 500;
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme: colors,
      deviceScaleFactor: isPhone ? 2 : 1,
      hasTouch: isPhone,
      permissions: ["clipboard-read", "clipboard-write"],
      ...options,
    });
    const visit = new Visit();
    visit.variant = variant;
    visit.context = context;
    visit.page = await context.newPage();
    visit.page.setDefaultTimeout(20_000);
    await visit.#watch(new URL(url).origin);
    await visit.page.goto(url);
    await visit.page.waitForSelector("[role=gridcell]");
    return visit;
  }

  async #watch(origin) {
    const { page } = this;
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) this.complaints.push(message.text());
    });
    page.on("pageerror", (error) => this.complaints.push(String(error)));
    page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && !["blob:", "data:"].includes(url.protocol)) {
        this.complaints.push(`a request to another host: ${url}`);
      }
    });
    await page.exposeFunction("violated", (words) => this.complaints.push(words));
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        window.violated(`content security policy: ${event.violatedDirective} ${event.blockedURI}`);
      });
    });
  }

  /** Ends the visit; nothing may have gone wrong unseen. */
  async end() {
    const cookies = await this.context.cookies();
    await this.context.close();
    const left = this.complaints.filter((words) => !this.expected.some((pattern) => pattern.test(words)));
    assert.deepEqual(left, [], "the browser complains");
    assert.deepEqual(cookies, [], "cookies were set");
  }

  get isPhone() {
    return this.variant.width < 500;
  }

  /** Keeps a screenshot. */
  async shot(name) {
    const { width, colors } = this.variant;
    await this.page.screenshot({ path: path.join(screenshots, `${name}-${width}-${colors}.png`) });
  }

  /** Keeps a screenshot and checks that nothing is wider than the window. */
  async fits(name) {
    await this.shot(name);
    const overflow = await this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    assert.ok(overflow <= 0, `${name}: the page is ${overflow} pixels wider than the window`);
  }

  /** Keeps a screenshot and checks accessibility, and that nothing is wider than the window. */
  async inspect(name) {
    await this.fits(name);
    await this.page.evaluate(`if (!window.axe) { ${axeSource} }`);
    const violations = await this.page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
      return violations.map(
        ({ id, help, nodes }) => `${id}: ${help}: ${nodes.map((node) => node.html).slice(0, 3)}`,
      );
    });
    assert.deepEqual(violations, [], `${name}: accessibility`);
  }

  /** Waits until an element has a text. */
  async text(selector, pattern) {
    const isText = typeof pattern === "string";
    await this.page
      .waitForFunction(
        ([selector, source, isText]) => {
          const text = document.querySelector(selector)?.textContent ?? "";
          return isText ? text === source : new RegExp(source).test(text);
        },
        [selector, isText ? pattern : pattern.source, isText],
      )
      .catch(async () => {
        const found = await this.page.locator(selector).textContent();
        assert.fail(`${selector} is ${JSON.stringify(found)} and not ${pattern}`);
      });
  }

  /** Waits for a text in the status line. */
  status(pattern) {
    return this.text("#status", pattern);
  }

  /** Opens a file by the button's field. */
  async open(...files) {
    await this.page.setInputFiles("#file", files.length === 1 ? files[0] : files);
  }

  /** Drops a file on an element. */
  async drop(name, content, selector = "body") {
    const transfer = await this.page.evaluateHandle(
      ([name, content]) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([content], name));
        return transfer;
      },
      [name, content],
    );
    await this.page.dispatchEvent(selector, "dragover", { dataTransfer: transfer });
    await this.page.dispatchEvent(selector, "drop", { dataTransfer: transfer });
  }

  cell(row, column) {
    return this.page.locator(`[role=row]:nth-child(${row}) > [role=gridcell]:nth-child(${column})`);
  }

  label(row, column) {
    return this.cell(row, column).getAttribute("aria-label");
  }

  /** The board on one line. */
  cells() {
    return this.page.$$eval("[role=gridcell]", (cells) =>
      cells.map((cell) => (cell.children.length ? "." : cell.textContent || ".")).join(""),
    );
  }

  /** Waits until the board shows these cells. */
  async shows(puzzle) {
    const deadline = Date.now() + 20_000;
    let cells = await this.cells();
    while (cells !== puzzle && Date.now() < deadline) {
      await this.page.evaluate(() => new Promise(requestAnimationFrame));
      cells = await this.cells();
    }
    assert.equal(cells, puzzle);
  }

  /** Loads a puzzle by its link. */
  async load(puzzle) {
    const side = Math.sqrt(puzzle.length);
    await this.page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `p=${side}x${side}-${puzzle.replaceAll(".", "0")}`,
    );
    await this.shows(puzzle);
    await this.status("The puzzle of the link is loaded.");
  }

  /** Loads a puzzle, and plays a long search for its solution until so many steps are shown. */
  async watchLong(puzzle, limit = 1_000_000, speed = 9, steps = 1_000) {
    const { page } = this;
    await this.load(puzzle);
    await page.click("#tab-watch");
    await page.fill("#step-limit", String(limit));
    await page.selectOption("#strategy", "backtracking");
    await page.fill("#speed", String(speed));
    await page.click("#watch");
    await page.waitForFunction(
      (steps) => Number(document.getElementById("count-steps").textContent.replaceAll(",", "")) > steps,
      steps,
    );
  }
}
