import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testWatchdog } from "@flyte-ts/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { root } from "../repository.js";

const images = join(root, "deploy", "images");
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "flyte-ts-first-process-"));
  cpSync(join(images, "main.mjs"), join(folder, "main.mjs"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/**
 * Starts the entry point of an image with this script as the service, and stops it after its first
 * output.
 */
async function exitOf(service: string, signal: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  writeFileSync(join(folder, "service.mjs"), service);
  const child = spawn(process.execPath, [join(folder, "main.mjs")], { stdio: ["ignore", "pipe", "inherit"] });
  testWatchdog().watch(child, "SIGKILL");
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  child.kill(signal);
  const [code, by] = (await ended) as [number | null, NodeJS.Signals | null];
  return { code, signal: by };
}

test.each(["SIGTERM", "SIGINT"] as const)("a starting service exits on %s", async (signal) => {
  const waits = `console.log("waiting for the database"); await new Promise(() => setInterval(() => {}, 1_000));`;
  expect(await exitOf(waits, signal)).toEqual({ code: 0, signal: null });
});

test("a service that handles signals exits in its own way", async () => {
  const serves = `process.on("SIGTERM", () => setTimeout(() => process.exit(3), 50)); console.log("ready"); setInterval(() => {}, 1_000);`;
  expect(await exitOf(serves, "SIGTERM")).toEqual({ code: 3, signal: null });
});
