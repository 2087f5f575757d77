import { expect, test } from "vitest";
import { LapseLog, STABLE_MS } from "./lapse-log.js";

function lapseLog() {
  const lines: [string, object][] = [];
  let now = 0;
  const logger = {
    warn: (fields: object) => void lines.push(["warn", fields]),
    info: (fields: object) => void lines.push(["info", fields]),
  };
  return { lines, log: new LapseLog(logger as never, () => now), advance: (ms: number) => void (now += ms) };
}

test("many lapses are one warning, and one line with their number when the membership is stable again", () => {
  const { lines, log, advance } = lapseLog();
  for (let lapse = 0; lapse < 5; lapse++) {
    log.onLapse("expired", 32);
    advance(STABLE_MS - 1);
    expect(log.onMember(32)).toBe(false);
  }
  advance(1);
  expect([log.onMember(32), log.onMember(32)]).toEqual([true, false]);
  expect(lines).toEqual([
    ["warn", { reason: "expired", shards: 32 }],
    ["info", { lapses: 5, shards: 32 }],
  ]);
});

test("a lapse after a stable time is logged again", () => {
  const { lines, log, advance } = lapseLog();
  for (let period = 0; period < 2; period++) {
    log.onLapse("expired", 1);
    advance(STABLE_MS);
    log.onMember(1);
  }
  expect(lines.map(([level]) => level)).toEqual(["warn", "info", "warn", "info"]);
});
