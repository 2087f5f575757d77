import { DesiredState } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { afterEach, describe, expect, it } from "vitest";
import { athenaOver } from "../stand-in/apis.fixture.js";
import { FakeAthena } from "../stand-in/fake-athena.fixture.js";
import { awsSdkError, lostConnection } from "../stand-in/faults.fixture.js";
import { MemoryStore } from "@flyte-ts/task-plugin/harness";
import { Stage } from "../stand-in/stage.fixture.js";
import { prestoRequest, taskRequest } from "../stand-in/tasks.fixture.js";
import { decodePluginState } from "./job/plugin-state.js";
import type { FrameSettings } from "./settings.js";

let stage: Stage;
let athena: FakeAthena;
let store: MemoryStore;
let abandoned = 0;
const start = async (settings: Partial<FrameSettings> = {}) => {
  athena = new FakeAthena();
  store = new MemoryStore();
  abandoned = 0;
  const onAbandoned = () => void abandoned++;
  stage = await new Stage({ taskTypes: ["presto"], api: athenaOver(athena, store), store, settings, onAbandoned }).start();
};
afterEach(() => stage.stop());
const request = (name = "a-n0-0") => prestoRequest({ generatedName: name });

describe("creation", () => {
  it("is recorded before the call, and the job after it", async () => {
    await start();
    await stage.send(request());
    const recorded = stage.eventsOf(request()).map(({ pluginState }) => decodePluginState(pluginState, "athena"));
    expect(recorded).toEqual([{ kind: "creating" }, { kind: "created", job: { queryId: "query-0" }, lost: false }]);
    expect(stage.state(request())).toBe("QUEUED: job submitted");
  });

  it.each([
    ["a refused call", { kind: "refuse" as const, error: lostConnection() }],
    ["a lost answer", { kind: "lose" as const, error: lostConnection() }],
    ["a throttled call", { kind: "refuse" as const, error: awsSdkError("ThrottlingException", 400) }],
    ["status 429", { kind: "refuse" as const, error: awsSdkError("TooMany", 429) }],
    ["status 503", { kind: "refuse" as const, error: awsSdkError("ServiceUnavailable", 503) }],
    ["expired credentials", { kind: "refuse" as const, error: awsSdkError("ExpiredTokenException", 403) }],
  ])("after %s waits with a reason, and starts one job", async (_, fault) => {
    await start();
    athena.faults.add(fault);
    await stage.send(request());
    expect(stage.state(request())).toContain("QUEUED: cannot create the job, trying again: ");
    await stage.clock.advance(60_000);
    expect(stage.state(request())).toBe("RUNNING: Query is RUNNING");
    expect(athena.queries).toHaveLength(1);
  });

  it("fails for good when the API refuses the request", async () => {
    await start();
    athena.faults.add({ kind: "refuse", error: awsSdkError("InvalidRequestException", 400, "line 1: syntax error") });
    await stage.send(request());
    expect(stage.state(request())).toBe(
      "FAILED: permanent USER InvalidRequestException: cannot create the job in athena: line 1: syntax error",
    );
  });

  it("fails as the system's error when the API does not answer for long", async () => {
    await start({ outageMs: 120_000 });
    athena.faults.add(...Array.from({ length: 100 }, () => ({ kind: "refuse" as const, error: lostConnection() })));
    await stage.send(request());
    await stage.clock.advance(100_000);
    expect(stage.state(request())).toContain("QUEUED: ");
    await stage.clock.advance(120_000);
    expect(stage.state(request())).toMatch(/^FAILED: retryable SYSTEM WebApiUnavailable: cannot create the job for [23]\.\d minutes: /);
  });

  it("waits for a place within the limits, of all jobs and of a project, and says so", async () => {
    await start({ limits: { maxJobs: 10, maxJobsPerProject: 1, maxJobsPerNamespace: 0 } });
    await stage.send(request("a-n0-0"));
    await stage.send(request("a-n1-0"));
    expect(stage.state(request("a-n1-0"))).toBe(
      "WAITING_FOR_RESOURCES: athena runs its maximum of 1 jobs of project p; waiting for one to end",
    );
    expect(athena.queries).toHaveLength(1);
    athena.finish("SUCCEEDED");
    await stage.clock.advance(30_000);
    expect(athena.queries).toHaveLength(2);
  });

  it("continues with the recorded job after a restart, and repeats the call where none is recorded", async () => {
    await start();
    await stage.send(request("a-n0-0"));
    athena.faults.add({ kind: "lose", error: lostConnection() });
    await stage.send(request("a-n1-0"));
    await stage.restart();
    await stage.sendAgain(request("a-n0-0"));
    await stage.sendAgain(request("a-n1-0"));
    athena.finish("SUCCEEDED");
    await stage.clock.advance(30_000);
    expect([stage.state(request("a-n0-0")), stage.state(request("a-n1-0"))]).toEqual(["SUCCEEDED: ", "SUCCEEDED: "]);
    expect(athena.queries).toHaveLength(2);
  });
});

describe("the record of a job", () => {
  it("is that of this execution, not of a deleted one of the same name", async () => {
    await start();
    const older = { ...request(), owner: { ...request().owner, uid: "deleted" } as never };
    await stage.send(older);
    await stage.restart();
    await stage.send(request());
    expect(athena.queries).toHaveLength(2);
  });

  it("is not needed to go on, and is deleted when the end has been recorded", async () => {
    await start();
    store.unavailable = true;
    await stage.send(request());
    expect(stage.state(request())).toContain("cannot create the job, trying again: ");
    store.unavailable = false;
    await stage.clock.advance(30_000);
    expect([athena.queries.length, store.blobs.size]).toEqual([1, 1]);
    athena.finish("SUCCEEDED");
    await stage.clock.advance(30_000);
    expect(stage.last(request())?.cleanup).toBe(true);
    await stage.finalize(request());
    expect(store.blobs.size).toBe(0);
  });

  it("is deleted without looking for a job when the API refused it", async () => {
    await start();
    // Only before this time may an earlier process have received the request.
    await stage.clock.advance(61_000);
    athena.faults.add({ kind: "refuse", error: awsSdkError("InvalidRequestException", 400, "line 1: syntax error") });
    await stage.send(request());
    await stage.finalize(request());
    expect([athena.calls, store.blobs.size, abandoned]).toEqual([[], 0, 0]);
  });
});

describe("reading", () => {
  it("reads many jobs in few calls, less often with their age", async () => {
    await start();
    for (let i = 0; i < 120; i++) await stage.send(request(`a-n${i}-0`));
    athena.calls.length = 0;
    await stage.clock.advance(1_500);
    const reads = () => athena.calls.filter((call) => call.includes("GetQueryExecution")).length;
    expect(reads()).toBeGreaterThan(0);
    expect(reads()).toBeLessThanOrEqual(6);
    await stage.clock.advance(300_000);
    const before = reads();
    await stage.clock.advance(60_000);
    // Within a minute each of the 120 jobs is read six to seven times; batches keep the number of
    // calls low.
    expect(reads() - before).toBeLessThan(60);
  });

  it("shows why it waits, and counts failures in a row: a good reading ends them", async () => {
    await start({ outageMs: 60_000 });
    await stage.send(request());
    const refuse = () => athena.faults.add({ kind: "refuse", error: awsSdkError("InternalServerException", 500, "oops") });
    for (let round = 0; round < 5; round++) {
      refuse();
      await stage.clock.advance(20_000);
    }
    expect(stage.eventsOf(request()).map(({ event }) => event?.reason)).toContain("cannot read the state of the job, trying again: oops");
    expect(stage.state(request())).toBe("RUNNING: Query is RUNNING");
  });

  describe.each([
    ["another follows, ", true, false],
    ["another follows and the service has restarted, ", true, true],
    ["it is the last one, ", false, false],
    ["it is the last one and the service has restarted, ", false, true],
  ])("an attempt whose API stays away", (when, followed, restarted) => {
    it(`fails as the system's error; when ${when}its finalization stops the job`, async () => {
      await start({ outageMs: 60_000 });
      await stage.send(request());
      athena.faults.add(...Array.from({ length: 30 }, () => ({ kind: "refuse" as const, error: lostConnection() })));
      await stage.clock.advance(180_000);
      expect(stage.state(request())).toMatch(/^FAILED: retryable SYSTEM WebApiUnavailable: cannot read the state of the job for /);
      expect(athena.running).toBe(1);
      if (restarted) await stage.restart();
      // The outage goes on.
      await stage.finalize(request(), { followed });
      expect([athena.running, stage.bus.unacknowledged]).toEqual([1, 1]);
      athena.faults.clear();
      await stage.clock.advance(30_000);
      await stage.bus.redeliver();
      await stage.clock.advance(1_000);
      expect([athena.running, stage.bus.unacknowledged, abandoned, store.blobs.size]).toEqual([0, 0, 0, 0]);
    });
  });

  it("does not fail the attempt in an outage while the job cannot be recorded as left behind", async () => {
    await start({ outageMs: 60_000 });
    await stage.send(request());
    athena.faults.add(...Array.from({ length: 30 }, () => ({ kind: "refuse" as const, error: lostConnection() })));
    store.unavailable = true;
    await stage.clock.advance(180_000);
    expect(stage.state(request())).toMatch(/^(QUEUED|RUNNING): cannot read the state of the job, trying again: /);
    store.unavailable = false;
    await stage.clock.advance(120_000);
    expect(stage.state(request())).toContain("WebApiUnavailable");
  });

  it("gives up and counts an attempt whose job cannot be stopped for the time of an outage", async () => {
    await start({ outageMs: 60_000 });
    await stage.send(request());
    athena.faults.add(...Array.from({ length: 100 }, () => ({ kind: "refuse" as const, error: lostConnection() })));
    await stage.clock.advance(180_000);
    await stage.finalize(request());
    expect(stage.bus.unacknowledged).toBe(1);
    await stage.clock.advance(60_000);
    await stage.bus.redeliver();
    await stage.clock.advance(1_000);
    expect([athena.running, stage.bus.unacknowledged, abandoned]).toEqual([1, 0, 1]);
  });

  it("fails as the system's error when the job is gone", async () => {
    await start();
    await stage.send(request());
    athena.queries.length = 0;
    await stage.clock.advance(5_000);
    expect(stage.state(request())).toContain("FAILED: retryable SYSTEM ResourceDeletedExternally: ");
  });
});

describe("abort", () => {
  it("stops a query whose start was never recorded", async () => {
    await start();
    athena.faults.add({ kind: "lose", error: lostConnection() });
    await stage.send(request());
    await stage.restart();
    await stage.send(request(), DesiredState.ABORT);
    await stage.clock.advance(30_000);
    expect(stage.state(request())).toContain("ABORTED: ");
    expect(athena.running).toBe(0);
  });

  it("is repeated while the API does not answer", async () => {
    await start();
    await stage.send(request());
    athena.faults.add({ kind: "refuse", error: lostConnection() }, { kind: "refuse", error: lostConnection() });
    await stage.send({ ...request(), abortReason: "the user said so" }, DesiredState.ABORT);
    await stage.clock.advance(60_000);
    expect(stage.state(request())).toBe("ABORTED: the user said so");
    expect(athena.running).toBe(0);
  });

  it("reports the end that came before it", async () => {
    await start();
    await stage.send(request());
    athena.finish("FAILED", "line 1: column missing");
    await stage.send(request(), DesiredState.ABORT);
    await stage.clock.advance(10_000);
    expect(stage.state(request())).toBe("FAILED: retryable USER FAILED: line 1: column missing");
  });

  it("spares, for all attempts of a resource, those of another execution of the same name", async () => {
    await start();
    await stage.send(request());
    const other = { ...request(), owner: { ...request().owner, uid: "another" } as never };
    await stage.send({ ...other, generatedName: "", template: request().template, abortReason: "unreadable" }, DesiredState.ABORT_ALL);
    await stage.clock.advance(30_000);
    expect(athena.running).toBe(1);
    await stage.send({ ...request(), abortReason: "unreadable" }, DesiredState.ABORT_ALL);
    await stage.clock.advance(30_000);
    expect([athena.running, stage.state(request())]).toEqual([0, "ABORTED: unreadable"]);
  });

  describe("a request for all attempts of a resource, after a restart", () => {
    const folder = "s3://bucket/run";
    const placed = (index: number) =>
      prestoRequest({ generatedName: `a-n${index}-0`, nodePath: `n${index}`, outputPrefix: `${folder}/n${index}/data/0` });
    const abortAll = async (uid = request().owner?.uid ?? "") => {
      const owner = { ...request().owner, uid } as never;
      await stage.send({ ...request(), generatedName: "", owner, outputPrefix: folder, abortReason: "unreadable" }, DesiredState.ABORT_ALL);
      await stage.clock.advance(30_000);
    };

    it("stops attempts that no request has named since", async () => {
      await start();
      await stage.send(placed(0));
      athena.faults.add({ kind: "lose", error: lostConnection() });
      await stage.send(placed(1));
      await stage.send({ ...placed(2), outputPrefix: "s3://bucket/another-run/n2/data/0" });
      await stage.restart();
      await abortAll("another");
      expect(athena.running).toBe(3);
      await abortAll();
      expect(athena.running).toBe(1);
      expect([placed(0), placed(1)].map((one) => stage.state(one))).toEqual(["ABORTED: unreadable", "ABORTED: unreadable"]);
      expect(stage.bus.unacknowledged).toBe(0);
      // The requests of such an attempt may be delivered again.
      await stage.restart();
      await stage.send(placed(0));
      expect([stage.state(placed(0)), athena.queries.length]).toEqual(["ABORTED: ", 3]);
    });

    it("waits for the blob store", async () => {
      await start();
      await stage.send(placed(0));
      await stage.restart();
      store.unavailable = true;
      await abortAll();
      expect([athena.running, stage.bus.unacknowledged]).toEqual([1, 1]);
      store.unavailable = false;
      await stage.bus.redeliver();
      await stage.clock.advance(30_000);
      expect([athena.running, stage.bus.unacknowledged]).toEqual([0, 0]);
    });
  });

  it("stops a query of an earlier process by its record when it names nothing but the attempt", async () => {
    await start();
    const { template } = taskRequest({ type: "presto" });
    athena.faults.add({ kind: "lose", error: lostConnection() });
    await stage.send(request());
    await stage.restart();
    await stage.send({ ...request(), ...(template && { template }), rawOutputPrefix: "" }, DesiredState.ABORT);
    await stage.clock.advance(30_000);
    expect(athena.running).toBe(0);
  });

  it.each([true, false])("stops a job of unknown creation when the attempt is finalized (after a restart: %s)", async (restarted) => {
    await start({ outageMs: 60_000 });
    athena.faults.add({ kind: "lose", error: lostConnection() });
    athena.faults.add(...Array.from({ length: 100 }, () => ({ kind: "refuse" as const, error: lostConnection() })));
    await stage.send(request());
    await stage.clock.advance(180_000);
    expect(stage.state(request())).toContain("WebApiUnavailable: cannot create the job");
    athena.faults.clear();
    await stage.clock.advance(60_000);
    if (restarted) await stage.restart();
    await stage.finalize(request(), { followed: true });
    await stage.clock.advance(1_000);
    expect([athena.running, stage.bus.unacknowledged]).toEqual([0, 0]);
  });
});
