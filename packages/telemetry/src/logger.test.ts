import { execFileSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { expect, test } from "vitest";
import { createLogger } from "./logger.js";
import { LogSampler } from "./log-sampler.js";

test("secrets are redacted at any depth", () => {
  const program = `
    import { createLogger } from "./packages/telemetry/src/logger.ts";
    const log = createLogger({ service: "s", level: "debug" });
    log.info({ token: "t0p", workflow: "ns/a", config: { secretAccessKey: "t0p", database: { password: "t0p" } }, headers: { authorization: "Bearer t0p" } }, "x");
  `;
  const line = execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" });
  expect(line).not.toContain("t0p");
  expect(JSON.parse(line)).toMatchObject({ level: "info", service: "s", workflow: "ns/a", token: "[secret]", msg: "x" });
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
