import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { answer } from "../../simulation/build/answer.js";
import { Driver } from "../../simulation/build/driver.js";
import { buildWorkflow, numbers } from "../../simulation/build/workflow.js";
import { Random } from "../../simulation/random.js";
import { randomWorkflow } from "../../simulation/random-workflow.js";
import type { Observation } from "../types.js";

/** What may happen next: an answer to something that was asked, or time. */
function nextObservation(random: Random, open: Map<string, TaskRequest>, now: number): Observation | number {
  const keys = [...open.keys()].sort();
  if (keys.length === 0 || random.chance(0.1)) return random.pick([50, 2_000, 35_000, 130_000]);
  const request = open.get(random.pick(keys));
  if (request === undefined) return 50;
  const abort = request.desired === DesiredState.ABORT;
  const phase = abort
    ? random.pick(["ABORTED", "ABORTED", "SUCCEEDED"] as const)
    : random.pick(["QUEUED", "RUNNING", "SUCCEEDED", "SUCCEEDED", "FAILED"] as const);
  const details = {
    outputs: numbers({ o0: random.int(10) }),
    recoverable: random.chance(0.7),
    kind: random.chance(0.3) ? "SYSTEM" : "USER",
  } as const;
  return { kind: "taskEvent", event: answer(request, phase, { now, details }) };
}

function noteSent(driver: Driver, open: Map<string, TaskRequest>): string[] {
  const texts: string[] = [];
  for (const { request, text } of driver.sent.splice(0)) {
    texts.push(text);
    if (request.desired !== DesiredState.FINALIZE) open.set(`${request.nodePath}/${request.id?.retryAttempt ?? 0}`, request);
  }
  return texts.sort();
}

describe("the incremental walk", () => {
  it("decides as full walks do, on random graphs and random orders of events", () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const spec = randomWorkflow(new Random(seed));
        // One with its status in slices, the other with all in the resource.
        const slices = { inlineStatusLimit: (seed % 5) * 300, slices: { nodes: 1 + (seed % 4), bytes: 1_000 } };
        const [counted, walked] = [new Driver(buildWorkflow(spec), slices), new Driver(buildWorkflow(spec), {}, { fullWalks: true })];
        const open = new Map<string, TaskRequest>();
        const random = new Random(seed + 1);
        const both = (act: (driver: Driver) => void): void => {
          for (const driver of [counted, walked]) act(driver);
          expect(noteSent(walked, new Map())).toEqual(noteSent(counted, open));
          expect(walked.takeTold().sort()).toEqual(counted.takeTold().sort());
          expect(walked.run.status).toEqual(counted.run.status);
          for (const driver of [counted, walked]) expect(driver.storedStatus).toEqual(JSON.parse(JSON.stringify(driver.run.status)));
        };
        both((driver) => driver.observe({ kind: "load" }));
        for (let step = 0; step < 80 && !counted.run.terminal; step++) {
          const next = random.chance(0.02) ? ({ kind: "abort" } as const) : nextObservation(random, open, counted.now);
          both((driver) => (typeof next === "number" ? driver.advance(next) : driver.observe(next)));
          // A full walk at any time finds nothing that was not done.
          expect(counted.run.observe({ kind: "resync" }, counted.now)).toEqual([]);
        }
      }),
      { numRuns: Number(process.env["FULL_WALK_RUNS"] ?? 1_000) },
    );
  });
});
