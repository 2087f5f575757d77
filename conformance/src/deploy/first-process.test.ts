import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { testWatchdog } from "@flyte-ts/testing";
import { afterEach, beforeEach, expect, test } from "vitest";

const images = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "deploy", "images");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-first-process-"));
  cpSync(join(images, "main.mjs"), join(folder, "main.mjs"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Starts what an image starts, with this in the place of the service, and asks it to end once it has said something. */
async function endOf(service: string, signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  writeFileSync(join(folder, "service.mjs"), service);
  const child = spawn(process.execPath, [join(folder, "main.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  testWatchdog().watch(child, "SIGKILL");
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  child.kill(signal);
  const [code, by] = (await ended) as [number | null, NodeJS.Signals | null];
  return { code, signal: by };
}

test.each(["SIGTERM", "SIGINT"] as const)("a service that is still starting ends when it is asked to (%s)", async (signal) => {
  const waits = `console.log("waiting for the database"); await new Promise(() => setInterval(() => {}, 1_000));`;
  expect(await endOf(waits, signal)).toEqual({ code: 0, signal: null });
});

test("one that handles signals itself ends in its own way", async () => {
  const serves = `process.on("SIGTERM", () => setTimeout(() => process.exit(3), 50)); console.log("ready"); setInterval(() => {}, 1_000);`;
  expect(await endOf(serves, "SIGTERM")).toEqual({ code: 3, signal: null });
});
