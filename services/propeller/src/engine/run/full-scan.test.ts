import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { booleanLiteral, integerLiteral } from "@flyte-ts/domain/literal";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { answer } from "../../../simulation/fixtures/task-event.js";
import { Driver } from "../../../simulation/fixtures/driver.js";
import { buildWorkflow, DYNAMIC, type GraphSpec, numbers } from "../../../simulation/fixtures/workflow.js";
import { Random } from "../../../simulation/random.js";
import { simulatedPolicy } from "../../../simulation/mutants.js";
import { randomWorkflow } from "../../../simulation/random-workflow.js";
import type { CallResult, Call } from "../calls/call.js";
import type { Observation } from "../types.js";

/** A random next observation: an answer to a pending effect, or the passing of time. */
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
    futures: request.template?.type.startsWith(DYNAMIC) === true,
    recoverable: random.chance(0.7),
    kind: random.chance(0.3) ? "SYSTEM" : "USER",
  } as const;
  return { kind: "taskEvent", event: answer(request, phase, { now, details }) };
}

/** Result of a call; the same call has the same name in every run. */
function answerTo(random: Random, call: Call): CallResult {
  if (random.chance(0.15)) return { kind: "error", message: "no" };
  switch (call.kind) {
    case "createExecution":
      return random.chance(0.1)
        ? { kind: "refused", code: "NOT_FOUND", message: "no such launch plan" }
        : { kind: "value", value: random.pick(["created", "exists"]) };
    case "readExecution":
      return {
        kind: "value",
        value: random.pick([
          { phase: "running" },
          { phase: "running" },
          { phase: "succeeded", outputs: numbers({ o0: 3 }) },
          { phase: "failed", error: undefined },
          { phase: "aborted" },
        ]),
      };
    case "terminateExecution":
      return { kind: "value", value: random.pick(["requested", "ended", "none"]) };
    case "awaitSignal": {
      const yesOrNo = call.type?.type.value === SimpleType.BOOLEAN;
      return { kind: "value", value: random.chance(0.4) ? undefined : yesOrNo ? booleanLiteral(random.chance(0.8)) : integerLiteral(2n) };
    }
    case "readDynamic": {
      const { root, tasks, subWorkflows } = buildWorkflow({ main: MADE }).model;
      return { kind: "value", value: { model: { root, tasks, subWorkflows }, closure: undefined } };
    }
    default:
      return { kind: "refused", code: "UNIMPLEMENTED", message: "" };
  }
}

const MADE: GraphSpec = {
  nodes: {
    dn0: { kind: "task", inputs: { a: 3 } },
    dn1: { kind: "launch", launchPlan: "plan", inputs: { a: "dn0.o0" } },
    dn2: { kind: "signal", signal: "s", timeoutMs: 60_000 },
  },
  outputs: { o0: "dn1.o0" },
};

function nameOf(call: Call): string {
  switch (call.kind) {
    case "createExecution":
      return `create ${call.request.name}`;
    case "readExecution":
    case "terminateExecution":
      return `${call.kind} ${call.id.name}`;
    case "awaitSignal":
      return `signal ${call.id.signalId}`;
    case "readDynamic":
      return `dynamic ${call.attemptDir}`;
    default:
      return call.kind;
  }
}

/** Names of the calls since the last check; several nodes may wait for one signal. */
function takeAsked(driver: Driver, open: Map<string, Call>): string[] {
  const pending = driver.asks.splice(0);
  for (const { id, call } of pending) {
    open.set(nameOf(call), call);
    const ids = idsOf(driver).get(nameOf(call));
    if (ids === undefined) idsOf(driver).set(nameOf(call), [id]);
    else ids.push(id);
  }
  return pending.map(({ call }) => nameOf(call)).sort();
}

const ids = new WeakMap<Driver, Map<string, string[]>>();

function idsOf(driver: Driver): Map<string, string[]> {
  const known = ids.get(driver) ?? new Map<string, string[]>();
  ids.set(driver, known);
  return known;
}

/** Completes all calls of that name. */
function giveAnswer(driver: Driver, name: string, answer: CallResult): void {
  const waiting = idsOf(driver).get(name) ?? [];
  idsOf(driver).delete(name);
  for (const id of waiting) driver.observe({ kind: "callResult", id, result: answer });
}

function noteSent(driver: Driver, open: Map<string, TaskRequest>): string[] {
  const texts: string[] = [];
  for (const { request, text } of driver.requests.splice(0)) {
    texts.push(text);
    if (request.desired !== DesiredState.FINALIZE) open.set(`${request.nodePath}/${request.id?.retryAttempt ?? 0}`, request);
  }
  return texts.sort();
}

/** As JSON; a missing map of nested statuses equals an empty one. */
function asStored(status: unknown): unknown {
  return JSON.parse(
    JSON.stringify(status, (key, value: object) => (key === "subNodeStatus" && Object.keys(value).length === 0 ? undefined : value)),
  );
}

/** Seeds that once exposed a difference, with its cause. */
const FOUND = [
  // A graph and one nested in it fail in the same observation.
  82497029,
  // A node waits for `capacity` while another's success is published again after a restart.
  368917410,
];

describe("the incremental evaluation", () => {
  it("decides like full evaluations, on random graphs and random orders of events", { timeout: 1_800_000 }, () => {
    fc.assert(
      fc.property(fc.nat(), (seed) => {
        const spec = randomWorkflow(new Random(seed));
        // Compares one run with its status in slices and one with all of it in the resource.
        const slices = { maxInlineStatusBytes: (seed % 5) * 300, sliceLimits: { nodes: 1 + (seed % 4), bytes: 1_000 } };
        const [counted, walked] = [
          new Driver(buildWorkflow(spec), slices),
          new Driver(buildWorkflow(spec), {}, simulatedPolicy({ bug: undefined, fullScans: true })),
        ];
        const open = new Map<string, TaskRequest>();
        const questions = new Map<string, Call>();
        const random = new Random(seed + 1);
        const both = (act: (driver: Driver) => void): void => {
          for (const driver of [counted, walked]) act(driver);
          expect(noteSent(walked, new Map())).toEqual(noteSent(counted, open));
          expect(takeAsked(walked, new Map())).toEqual(takeAsked(counted, questions));
          expect(walked.takeEventTexts().sort()).toEqual(counted.takeEventTexts().sort());
          expect(walked.run.status).toEqual(counted.run.status);
          for (const driver of [counted, walked]) expect(asStored(driver.storedStatus)).toEqual(asStored(driver.run.status));
        };
        both((driver) => driver.observe({ kind: "load", isNew: seed % 3 > 0 }));
        for (let step = 0; step < 80 && !counted.run.terminal; step++) {
          const name = random.chance(0.4) ? [...questions.keys()].sort().at(0) : undefined;
          const request = name === undefined ? undefined : questions.get(name);
          if (name !== undefined && request !== undefined) {
            questions.delete(name);
            const given = answerTo(random, request);
            both((driver) => giveAnswer(driver, name, given));
            continue;
          }
          const next = random.chance(0.02) ? ({ kind: "abort" } as const) : nextObservation(random, open, counted.now);
          both((driver) => (typeof next === "number" ? driver.advance(next) : driver.observe(next)));
          // A resync at any time finds no pending work.
          expect(counted.run.observe({ kind: "resync" }, counted.now)).toEqual([]);
        }
      }),
      {
        numRuns: Number(process.env["FULL_WALK_RUNS"] ?? 500),
        seed: Number(process.env["FULL_WALK_SEED"] ?? 1),
        examples: FOUND.map((seed) => [seed]),
      },
    );
  });
});
