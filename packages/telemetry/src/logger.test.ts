import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createLogger, type Logger } from "./logger.js";
import { LogSampler } from "./log-sampler.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "logger-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the lines that are logged. */
function logged(act: (log: Logger) => void): string {
  const file = join(folder, "log");
  const fd = openSync(file, "w");
  try {
    act(createLogger({ service: "s", level: "debug", fd }));
  } finally {
    closeSync(fd);
  }
  return readFileSync(file, "utf8");
}

test("secrets are redacted at any depth", () => {
  const config = { secretAccessKey: "t0p", database: { password: "t0p" } };
  const line = logged((log) => log.info({ token: "t0p", workflow: "ns/a", config, headers: { authorization: "Bearer t0p" } }, "x"));
  expect(line).not.toContain("t0p");
  expect(JSON.parse(line)).toMatchObject({ level: "info", service: "s", workflow: "ns/a", token: "[secret]", msg: "x" });
});

test("stack traces name positions in the sources", () => {
  const code = join(folder, "built.js");
  writeFileSync(`${code}.map`, JSON.stringify({ version: 3, sources: ["src/a.ts"], names: [], mappings: ";AASA" }));
  const line = logged((log) => log.error({ error: `Error: no\n    at run (file://${code}:2:8)` }, "x"));
  expect(JSON.parse(line)).toMatchObject({ error: `Error: no\n    at run (file://${folder}/src/a.ts:10:1)` });
});

test("repeated lines are sampled, and the number of suppressed ones is reported", () => {
  let now = 0;
  const sampler = new LogSampler({ intervalMs: 1_000, now: () => now });
  expect([sampler.sample("a"), sampler.sample("a"), sampler.sample("b"), sampler.sample("a")]).toEqual([0, undefined, 0, undefined]);
  now = 1_000;
  expect(sampler.sample("a")).toBe(2);
});

test.runIf(process.platform === "linux")("a full disk drops lines without ending the process, and the buffer is bounded", () => {
  const fd = openSync("/dev/full", "w");
  try {
    const log = createLogger({ service: "s", fd });
    for (let i = 0; i < 1_000; i++) log.info({ text: "x".repeat(1_000) }, "a line");
    expect(log.isLevelEnabled("info")).toBe(true);
  } finally {
    closeSync(fd);
  }
});
