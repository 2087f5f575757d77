// `npm run screenshots`: writes the pictures of the README. Starts a stack, runs the example on it
// and opens the console in Chromium (or the program that FLYTE_TS_CHROMIUM names).
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureBuilt, nodeProgram, root } from "./prepare.mjs";

const SCOPE = "projects/flytesnacks/domains/development";
const VIEWPORT = { width: 1180, height: 640 };
/** Executions of the list, of which the last is aborted. */
const RELAUNCHES = 5;
const JSON_REQUEST = { headers: { "content-type": "application/json" } };
const folder = join(root, "docs", "images");

await ensureBuilt();
const { chromium } = await import("playwright-core");
const { CHROMIUM_ARGS, findChromium } = await import("@flyte-ts/test-servers");
const data = mkdtempSync(join(tmpdir(), "flyte-ts-screenshots-"));
const args = ["start", "--data", data, "--port", "0", "--blobPort", "0", "--logLevel", "warn"];
const stack = spawn(nodeProgram(), [join(root, "packages/cli/dist/main.js"), ...args], { stdio: ["ignore", "pipe", "inherit"] });
let output = "";
stack.stdout.on("data", (chunk) => {
  output += chunk;
});
const stopped = new Promise((resolve) => stack.once("exit", resolve));
try {
  const [, name] = await until(() => /\(execution ([a-z0-9]+)\)/.exec(output) ?? undefined);
  const { api } = JSON.parse(readFileSync(join(data, "config", "ports.json"), "utf8"));
  const origin = `http://localhost:${api}`;
  await fillList(origin, name);
  mkdirSync(folder, { recursive: true });
  const browser = await chromium.launch({ executablePath: findChromium(), args: CHROMIUM_ARGS });
  await shoot(browser, `${origin}/console/${SCOPE}/executions/${name}?node=n2`, "console-execution.png", "Outputs");
  await shoot(browser, `${origin}/console/${SCOPE}/executions`, "console-executions.png", "Aborted");
  await browser.close();
} finally {
  stack.kill("SIGINT");
  await stopped;
  rmSync(data, { recursive: true, force: true });
}

/** Runs the example again some times, and aborts the last run. */
async function fillList(origin, name) {
  const id = { project: "flytesnacks", domain: "development", name };
  const send = async (path, method, content) => {
    const body = JSON.stringify(content);
    const response = await fetch(`${origin}/api/v1/executions${path}`, { ...JSON_REQUEST, method, body });
    if (!response.ok) throw new Error(`${method} ${path}: ${await response.text()}`);
    return response.json();
  };
  let last;
  for (let count = 0; count < RELAUNCHES; count++) ({ id: last } = await send("/relaunch", "POST", { id }));
  await send(`/flytesnacks/development/${last.name}`, "DELETE", { cause: "no longer needed" });
  const list = `${origin}/api/v1/executions/flytesnacks/development?limit=20`;
  await until(async () => {
    const { executions } = await (await fetch(list)).json();
    return executions.every(({ closure }) => ["SUCCEEDED", "ABORTED"].includes(closure.phase)) || undefined;
  });
}

async function shoot(browser, url, file, text) {
  const page = await browser.newPage({ viewport: VIEWPORT, reducedMotion: "reduce" });
  await page.goto(url);
  await page.getByText(text).first().waitFor();
  await page.waitForLoadState("networkidle");
  await page.screenshot({ path: join(folder, file) });
  await page.close();
  console.log(`wrote docs/images/${file}`);
}

/** Polls until there is a result. */
async function until(find) {
  for (;;) {
    const found = await find();
    if (found !== undefined) return found;
    if (stack.exitCode !== null) throw new Error(`the stack has stopped:\n${output}`);
    await sleep(500);
  }
}
