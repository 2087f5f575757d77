import { isTerminalNodeEvent, isTerminalWorkflowEvent } from "@flyte-ts/domain/phase";
import { NodeExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import fc from "fast-check";
import { expect, test } from "vitest";
import { formatAge, formatDuration, readDurationMs } from "./duration.js";
import { EXECUTION_PHASES, executionPhaseLook, NODE_PHASES, nodePhaseLook } from "./phase.js";
import { UNFOLDED } from "../node-table/measure/time-folds.js";
import { ticksOf, tickStepMs } from "../timeline/axis/ticks.js";
import { formatCount } from "./count.js";
import { clockTimeMs, formatRfc3339, formatTick, formatTime, readTimeMs, zoneName } from "./time.js";

test.each([
  [0, "0 ms"],
  [320.4, "320 ms"],
  [999.6, "1000 ms"],
  [4_917, "4.9 s"],
  [9_960, "10 s"],
  [59_499, "59 s"],
  [59_600, "1m 00s"],
  [401_000, "6m 41s"],
  [3_599_600, "1h 00m"],
  [5_460_000, "1h 31m"],
  [100_800_000, "1d 04h"],
  [-5, "0 ms"],
])("%d ms is %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

test("a duration of the API is read", () => {
  expect([readDurationMs("9.524s"), readDurationMs("0s"), readDurationMs(null), readDurationMs("9")]).toEqual([
    9_524,
    0,
    undefined,
    undefined,
  ]);
});

test("ages have one unit", () => {
  expect([21_900, 300_000, 10_800_000, 86_400_000, 200_000_000].map(formatAge)).toEqual(["21 s", "5 min", "3 h", "1 day", "2 days"]);
});

const NOW = Date.parse("2026-11-27T08:15:26Z");
test.each([
  ["2026-11-27T02:00:00Z", "UTC", "02:00:00"],
  ["2026-11-26T23:30:00Z", "Europe/Berlin", "00:30:00"],
  ["2026-11-26T23:30:00Z", "UTC", "Thu 23:30"],
  ["2026-11-18T02:00:00Z", "UTC", "18 Nov 02:00"],
  ["2025-11-18T02:00:00Z", "UTC", "18 Nov 2025"],
])("%s in %s is shown as %s", (time, zone, text) => expect(formatTime(Date.parse(time), NOW, zone)).toBe(text));

test.each([
  [500, "09:15:26.7"],
  [50, "09:15:26.76"],
  [10, "09:15:26.76"],
  [2, "09:15:26.769"],
  [1_000, "09:15:26"],
  [30_000, "09:15:26"],
  [60_000, "09:15"],
  [86_400_000, "27 Nov"],
])("a time beside others each %d ms is shown as %s", (stepMs, text) => {
  expect(formatTick(Date.parse("2026-11-27T09:15:26.769Z"), stepMs, "UTC")).toBe(text);
});

test("times at the distance of a step below an hour read differently, and midnight is its day", () => {
  fc.assert(
    fc.property(fc.constantFrom(1, 5, 20, 100, 500, 1_000, 15_000, 300_000), fc.nat({ max: 1e9 }), (stepMs, at) => {
      const fromMs = Date.parse("2026-11-27T00:00:00Z") + at * stepMs;
      const texts = Array.from({ length: 12 }, (_, index) => formatTick(fromMs + index * stepMs, stepMs, "UTC"));
      expect(new Set(texts).size).toBe(texts.length);
    }),
  );
  expect(formatTick(Date.parse("2026-11-27T00:00:00Z"), 3_600_000, "UTC")).toBe("27 Nov");
});

test("ticks of a day are at midnight of the zone's clock", () => {
  const [createdAtMs, step] = [Date.parse("2026-11-27T09:15:26.769Z"), 24 * 3_600_000];
  const limits = { fromMs: 0, toMs: 90 * step };
  for (const zone of ["Asia/Kolkata", "America/St_Johns", "UTC"]) {
    const ticks = ticksOf({ window: limits, widthPx: 9_000, folds: UNFOLDED, alignMs: clockTimeMs(createdAtMs, zone) });
    expect(tickStepMs(limits, 9_000)).toBe(step);
    const clocks = ticks.map(({ timeMs }) => formatRfc3339(Math.round(createdAtMs + timeMs), zone).slice(11, 19));
    // Summer time ends and begins in a zone: the ticks keep their distance.
    expect(new Set(clocks.slice(0, 30))).toEqual(new Set(["00:00:00"]));
  }
});

test("RFC 3339 names the same moment in every zone", () => {
  const zones = fc.constantFrom("UTC", "Europe/Berlin", "America/St_Johns", "Asia/Kathmandu", "Pacific/Chatham");
  const times = fc.date({ min: new Date("1971-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(times, zones, (time, zone) => {
      expect(readTimeMs(formatRfc3339(time.getTime(), zone))).toBe(time.getTime());
    }),
  );
});

test("local time and UTC are formatted as Intl formats their zones", () => {
  const own = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const times = fc.date({ min: new Date("1971-01-01"), max: new Date("2100-01-01"), noInvalidDate: true });
  fc.assert(
    fc.property(times, times, (time, now) => {
      const shown = (zone: string) => [formatTime(time.getTime(), now.getTime(), zone), formatRfc3339(time.getTime(), zone)];
      expect(shown("local")).toEqual(shown(own));
      expect(shown("UTC")).toEqual(shown("Etc/UTC"));
    }),
  );
});

test("counts have a comma between thousands", () => {
  expect([0, 999, 1_000, 12_345_678].map(formatCount)).toEqual(["0", "999", "1,000", "12,345,678"]);
});

test("an unknown zone is local time", () => {
  expect([zoneName("local"), zoneName("Nowhere/None"), zoneName("UTC")]).toEqual([undefined, undefined, "UTC"]);
});

const namesOf = (phases: object): string[] => Object.keys(phases).filter((name) => Number.isNaN(Number(name)));

test("every phase of the API has a look, and no other name has one of its own", () => {
  expect(Object.keys(EXECUTION_PHASES).toSorted()).toEqual(namesOf(WorkflowExecution_Phase).toSorted());
  expect(Object.keys(NODE_PHASES).toSorted()).toEqual(namesOf(NodeExecution_Phase).toSorted());
  expect([executionPhaseLook("toString"), nodePhaseLook(undefined)]).toEqual([EXECUTION_PHASES.UNDEFINED, NODE_PHASES.UNDEFINED]);
});

test("the same phases are terminal as on the server", () => {
  for (const name of namesOf(NodeExecution_Phase)) {
    const phase = NodeExecution_Phase[name as keyof typeof NodeExecution_Phase];
    expect([name, nodePhaseLook(name).terminal]).toEqual([name, isTerminalNodeEvent(phase)]);
  }
  for (const name of namesOf(WorkflowExecution_Phase)) {
    const phase = WorkflowExecution_Phase[name as keyof typeof WorkflowExecution_Phase];
    expect([name, executionPhaseLook(name).terminal]).toEqual([name, isTerminalWorkflowEvent(phase)]);
  }
});
