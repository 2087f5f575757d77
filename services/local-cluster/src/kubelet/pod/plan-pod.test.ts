import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planPod, type ContainerObservation, type PodObservation, type Run } from "./plan-pod.js";

const NOW = 1_000_000_000;
const running = (attempt = 0): Run => ({ state: "running", attempt, startedAt: NOW - 1000 });
const ended = (exitCode: number, more: { attempt?: number; ago?: number; ran?: number } = {}): Run => ({
  state: "ended",
  attempt: more.attempt ?? 0,
  startedAt: NOW - (more.ago ?? 100) - (more.ran ?? 1000),
  finishedAt: NOW - (more.ago ?? 100),
  exitCode,
  reason: exitCode === 0 ? "Completed" : "Error",
  message: "",
});
const container = (name: string, run?: Run, role: ContainerObservation["role"] = "main"): ContainerObservation => ({
  name,
  role,
  run,
  blocked: undefined,
});
const seen = (containers: readonly ContainerObservation[], more: Partial<PodObservation> = {}): PodObservation => ({
  containers,
  restartPolicy: "Never",
  now: NOW,
  deleting: false,
  deadline: undefined,
  volumesReady: true,
  finalPhase: undefined,
  ...more,
});

describe("the start of a pod", () => {
  test("starts all main containers at once without init containers", () => {
    expect(planPod(seen([container("a"), container("b")]))).toMatchObject({ start: ["a", "b"], phase: "Pending", initialized: true });
  });
  test("starts init containers one by one", () => {
    const [one, two] = [container("one", undefined, "init"), container("two", undefined, "init")];
    expect(planPod(seen([one, two, container("m")]))).toMatchObject({ start: ["one"], initialized: false });
    expect(planPod(seen([{ ...one, run: running() }, two, container("m")])).start).toEqual([]);
    expect(planPod(seen([{ ...one, run: ended(0) }, two, container("m")])).start).toEqual(["two"]);
    expect(planPod(seen([{ ...one, run: ended(0) }, { ...two, run: ended(0) }, container("m")])).start).toEqual(["m"]);
  });
  test("starts no container before its volumes, and blocked containers only at their retry time", () => {
    expect(planPod(seen([container("a")], { volumesReady: false })).start).toEqual([]);
    const blocked = { ...container("a"), blocked: { retryAt: NOW + 500 } };
    expect(planPod(seen([blocked]))).toMatchObject({ start: [], wakeAt: NOW + 500 });
    expect(planPod(seen([blocked], { now: NOW + 500 })).start).toEqual(["a"]);
  });
});

describe("the end of a pod", () => {
  test.each([
    { runs: [ended(0), ended(0)], phase: "Succeeded" },
    { runs: [ended(0), ended(1)], phase: "Failed" },
  ])("has the worst phase of the main containers: $phase", ({ runs, phase }) => {
    expect(planPod(seen(runs.map((run, i) => container(`c${i}`, run))))).toMatchObject({ phase, done: true, start: [] });
  });
  test("is the failure of an init container under restart policy Never", () => {
    expect(planPod(seen([container("i", ended(2), "init"), container("m")]))).toMatchObject({ phase: "Failed", done: true, start: [] });
  });
  test("stops sidecars after the main containers, and follows when they have stopped", () => {
    expect(planPod(seen([container("s", running(), "sidecar"), container("m", ended(0))]))).toMatchObject({ stop: ["s"], done: false });
    expect(planPod(seen([container("s", ended(143), "sidecar"), container("m", ended(0))]))).toMatchObject({
      phase: "Succeeded",
      done: true,
    });
  });
  test("by deletion stops main containers first, then sidecars", () => {
    const sidecar = container("s", running(), "sidecar");
    expect(planPod(seen([sidecar, container("m", running())], { deleting: true })).stop).toEqual(["m"]);
    expect(planPod(seen([sidecar, container("m", ended(143))], { deleting: true })).stop).toEqual(["s"]);
    expect(planPod(seen([container("m")], { deleting: true }))).toMatchObject({ done: true, start: [] });
  });
  test("by its deadline is a failure", () => {
    expect(planPod(seen([container("m", running())], { deadline: NOW }))).toMatchObject({
      phase: "Failed",
      deadlineExceeded: true,
      stop: ["m"],
      done: false,
    });
    expect(planPod(seen([container("m", running())], { deadline: NOW + 5 }))).toMatchObject({ phase: "Running", wakeAt: NOW + 5 });
  });
});

describe("restarts", () => {
  test.each([
    { policy: "Never", exit: 1, attempt: 0, start: [], wait: undefined },
    { policy: "OnFailure", exit: 1, attempt: 0, start: ["m"], wait: undefined },
    { policy: "OnFailure", exit: 0, attempt: 0, start: [], wait: undefined },
    { policy: "Always", exit: 0, attempt: 0, start: ["m"], wait: undefined },
    { policy: "Always", exit: 1, attempt: 1, start: [], wait: 10_000 },
    { policy: "Always", exit: 1, attempt: 3, start: [], wait: 40_000 },
    { policy: "Always", exit: 1, attempt: 20, start: [], wait: 300_000 },
  ] as const)("restart policy $policy after exit $exit of attempt $attempt", ({ policy, exit, attempt, start, wait }) => {
    const decision = planPod(seen([container("m", ended(exit, { attempt, ago: 0 }))], { restartPolicy: policy }));
    expect(decision.start).toEqual(start);
    expect(decision.backOff.get("m")?.delayMs).toBe(wait);
    expect(decision.wakeAt).toBe(wait === undefined ? undefined : NOW + wait);
  });
  test("a run that ended after the clock was read restarts at once, without a back-off of 0 s", () => {
    const decision = planPod(seen([container("m", ended(1, { attempt: 0, ago: -3 }))], { restartPolicy: "Always" }));
    expect(decision).toMatchObject({ start: ["m"], backOff: new Map(), wakeAt: undefined });
  });
  test("a run of ten minutes resets the restart count", () => {
    expect(planPod(seen([container("m", ended(1, { attempt: 5, ago: 0, ran: 600_000 }))], { restartPolicy: "Always" })).start).toEqual([
      "m",
    ]);
  });
});

test("for any observation, no running container is started and only running ones are stopped", () => {
  const run = fc.option(
    fc.oneof(
      fc.nat(5).map((n) => running(n)),
      fc
        .record({ exit: fc.constantFrom(0, 1, 137), attempt: fc.nat(5), ago: fc.nat(400_000) })
        .map(({ exit, ...more }) => ended(exit, more)),
    ),
    { nil: undefined },
  );
  const role = fc.constantFrom("init" as const, "sidecar" as const, "main" as const);
  const containers = fc.array(
    fc.record({ run, role, blocked: fc.option(fc.record({ retryAt: fc.integer({ min: NOW - 5, max: NOW + 5 }) }), { nil: undefined }) }),
    { minLength: 1, maxLength: 5 },
  );
  const input = fc.record({
    containers: containers.map((list) => list.map((c, i) => ({ ...c, name: `c${i}` }))),
    restartPolicy: fc.constantFrom("Always" as const, "OnFailure" as const, "Never" as const),
    now: fc.constant(NOW),
    deleting: fc.boolean(),
    deadline: fc.option(fc.integer({ min: NOW - 5, max: NOW + 5 }), { nil: undefined }),
    volumesReady: fc.boolean(),
    finalPhase: fc.constantFrom(undefined, "Failed" as const),
  });
  fc.assert(
    fc.property(input, (observation) => {
      const { start, stop, done, phase } = planPod(observation);
      const isRunning = (name: string) => observation.containers.find((c) => c.name === name)?.run?.state === "running";
      expect(start.some(isRunning)).toBe(false);
      expect(stop.every(isRunning)).toBe(true);
      const ending = observation.deleting || observation.finalPhase !== undefined || done;
      expect(ending && start.length > 0).toBe(false);
      expect(done && observation.containers.some((c) => isRunning(c.name))).toBe(false);
      expect(done && phase !== "Succeeded" && phase !== "Failed").toBe(false);
    }),
  );
});
