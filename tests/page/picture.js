/**
 * Makes docs/page.png, the picture of the page in the README: `just pictures`.
 */

import path from "node:path";
import { fileURLToPath } from "node:url";

import { browser, startServer, stopServers } from "./harness.js";

const PUZZLE = "3..........29.5.8.......179...3....164..........7..59..91..67...6..5....8....94..";

const server = await startServer();
const page = await browser.newPage({ viewport: { width: 1000, height: 700 }, colorScheme: "light" });
await page.goto(`${server.url}#p=9x9-${PUZZLE}`);
const hint = page.getByRole("button", { name: "Hint", exact: true });
// Where to look, which technique, the step.
for (const stage of [0, 1, 2]) {
  await hint.click();
  await page.locator("#hint-stages li").nth(stage).waitFor();
}
const picture = fileURLToPath(new URL("../../docs/page.png", import.meta.url));
await page.screenshot({ path: path.normalize(picture) });
await browser.close();
await stopServers();
