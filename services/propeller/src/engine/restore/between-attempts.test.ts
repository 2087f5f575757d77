import { describe, expect, it } from "vitest";
import { Driver } from "../../../simulation/fixtures/driver.js";
import type { WorkflowSpec } from "../../../simulation/fixtures/workflow.js";

const config = { defaultMaxAttempts: 2, retryBackoff: { initialMs: 60_000, factor: 1, maxMs: 60_000, jitter: 0 } };
const running = { kind: "value", value: { phase: "running" } } as const;

const graphs = {
  g: {
    nodes: {
      m0: { kind: "task", inputs: { a: 1 } },
      m1: { kind: "launch", launchPlan: "child" },
      m2: { kind: "task", inputs: { a: "m0.o0" } },
    },
    outputs: { o0: "m2.o0" },
  },
} as const;

const withMap: WorkflowSpec = {
  main: {
    nodes: { n0: { kind: "array", run: { kind: "task" }, lists: { a: [5, 6, 7] }, parallelism: 2, timeoutMs: 30_000 } },
    outputs: { o0: "n0.o0" },
  },
};
const withArm: WorkflowSpec = {
  main: {
    nodes: { n0: { kind: "branch", on: 1, arms: [{ below: 5, run: { kind: "launch", launchPlan: "child" } }], timeoutMs: 30_000 } },
    outputs: { o0: "n0.o0" },
  },
};
const withNestedArm: WorkflowSpec = {
  graphs,
  main: {
    nodes: {
      n0: {
        kind: "branch",
        on: 1,
        arms: [{ below: 5, run: { kind: "branch", on: 1, arms: [{ below: 5, run: { kind: "sub", graph: "g" } }] } }],
        timeoutMs: 30_000,
      },
    },
    outputs: { o0: "n0.o0" },
  },
};

interface Case {
  readonly name: string;
  readonly spec: WorkflowSpec;
  /** Paths of the tasks that run below `n0`. */
  readonly tasks: readonly string[];
  readonly launches: boolean;
  /** Tasks that the next attempt starts. */
  readonly again: readonly string[];
}

const CASES: readonly Case[] = [
  { name: "a map", spec: withMap, tasks: ["n0/n0", "n0/n1"], launches: false, again: ["n0/n0/0 RUN", "n0/n1/0 RUN"] },
  { name: "a branch whose arm is a child execution", spec: withArm, tasks: [], launches: true, again: [] },
  {
    name: "a branch in a branch with a sub-workflow",
    spec: withNestedArm,
    tasks: ["n0-n0-n0/m0"],
    launches: true,
    again: ["n0-n0-n0/m0/0 RUN"],
  },
];

/** Lets the attempt of `n0` end by its deadline, and all that ran below it by abort. */
function timedOut({ spec, tasks, launches }: Case): Driver {
  const driver = Driver.of(spec, config);
  if (launches) {
    driver.answer("createExecution", { kind: "value", value: "created" });
    driver.answer("readExecution", running);
  }
  for (const path of tasks) driver.reply(path, "RUNNING");
  driver.advance(30_500);
  for (const path of tasks) driver.reply(path, "ABORTED");
  if (launches) driver.answer("terminateExecution", { kind: "value", value: "ended" });
  return driver;
}

describe.each(CASES)("the next process, while $name waits for its next attempt,", (given) => {
  /** Status of the node, without the version that counts the reports on an array. */
  const attemptOf = (driver: Driver) => {
    const { arrayNodeStatus, ...status } = driver.resource.status.nodeStatus?.["n0"] ?? { phase: 0 };
    return { ...status, arrayPhase: arrayNodeStatus?.phase };
  };

  it("starts and continues nothing of the last one", () => {
    const driver = timedOut(given);
    expect(attemptOf(driver)).toMatchObject({ phase: 8, retryAt: expect.any(String) as string });
    const next = driver.restart(config);
    next.observe({ kind: "load" });
    next.advance(10_000);
    expect(next.takeRequests()).toEqual([]);
    expect(next.asks).toEqual([]);
    expect(attemptOf(next)).toEqual(attemptOf(driver));
  });

  it("starts the next one in time, and leaves nothing of the last one in the status", () => {
    const next = timedOut(given).restart(config);
    next.observe({ kind: "load" });
    next.advance(61_000);
    expect(next.takeRequests().filter((text) => text.endsWith("RUN"))).toEqual(given.again);
    expect(next.asks.map(({ call }) => call.kind)).toEqual(given.launches ? ["createExecution"] : []);
    const expected = timedOut(given);
    expected.advance(61_000);
    expect(next.resource.status).toEqual(expected.resource.status);
    expect(next.run.status).toEqual(next.resource.status);
  });

  it("ends it at once when the execution is aborted", () => {
    const next = timedOut(given).restart(config);
    next.observe({ kind: "load" });
    next.observe({ kind: "abort" });
    expect(next.takeRequests()).toEqual([]);
    expect(next.asks).toEqual([]);
    expect(next.resource.status.phase).toBe(6);
  });
});
