import { toBinary } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import { beforeEach, describe, expect, it } from "vitest";
import { MemoryBus, sampleRequest } from "../harness.js";
import { definePlugin, type Plugin, type PluginHost } from "../plugin.js";
import { RetryLater } from "../retry-later.js";
import { runPlugin } from "../service/run-plugin.js";

const logger = createLogger({ service: "test", level: "silent" });
const request = sampleRequest("t");

function ownerWith(uid: string): TaskRequest["owner"] {
  const { owner } = sampleRequest("t");
  return owner && { ...owner, uid };
}

describe("an attempt of a deleted execution whose name another execution has", () => {
  const later = { owner: ownerWith("later"), requestedAt: timestampFromDate(new Date("2026-01-03T00:00:00Z")) };
  let bus: MemoryBus;
  let host: PluginHost;
  let calls: string[];
  let release: () => void;
  const note = (call: string, { owner }: TaskRequest) => calls.push(`${call} ${owner?.uid}`);
  const told = () => bus.events.map(({ event }) => [Phase[event?.phase ?? 0], event?.phaseVersion, event?.reason]);
  const serve = (over: Partial<Plugin>) => {
    const start = (given: PluginHost) => void (host = given);
    const abort = () => ({ phase: "ABORTED" }) as const;
    const plugin = definePlugin({ name: "test", taskTypes: ["t"], start, reconcile: () => ({ phase: "RUNNING" }), abort, ...over });
    return runPlugin({ plugin, bus, logger, clock: new ManualTime(), random: () => 0.5 });
  };
  const send = async (desired: DesiredState, over: Partial<TaskRequest> = {}) => {
    const sent = { ...sampleRequest("t"), ...over, desired };
    await bus.send(taskRequestSubject("t", sent.shard), toBinary(TaskRequestSchema, sent));
    await settlePromises();
  };
  /** Serves a plugin that notes its calls; the attempt of the first execution succeeds in it. */
  const serveNoted = (over: Partial<Plugin> = {}) =>
    serve({
      reconcile: (given) => {
        note("run", given);
        return given.owner?.uid === "first" ? { phase: "SUCCEEDED" } : { phase: "RUNNING" };
      },
      abort: (given) => {
        note("abort", given);
        return { phase: "ABORTED" };
      },
      finalize: (given) => void note("finalize", given),
      ...over,
    });
  const sendFirst = (desired: DesiredState) => send(desired, { owner: ownerWith("first") });
  const sendLater = (desired: DesiredState) => send(desired, later);

  beforeEach(() => {
    bus = new MemoryBus();
    calls = [];
    release = () => undefined;
  });

  it.each([
    ["succeeded", [DesiredState.RUN], []],
    ["was aborted", [DesiredState.RUN, DesiredState.ABORT], []],
    ["was finalized", [DesiredState.RUN, DesiredState.FINALIZE], ["finalize first"]],
  ])("gives it nothing when it %s", async (_, desired, ended) => {
    await serveNoted();
    for (const state of desired) await sendFirst(state);
    const before = told().length;
    await sendLater(DesiredState.RUN);
    expect(calls).toEqual(["run first", ...ended, "run later"]);
    expect(told().slice(before)).toEqual([["RUNNING", 0, ""]]);
    expect(bus.unacknowledged).toBe(0);
  });

  it("is not affected by requests and reports that arrive late", async () => {
    await serveNoted();
    await sendFirst(DesiredState.RUN);
    await sendLater(DesiredState.RUN);
    const before = told().length;
    for (const desired of [DesiredState.RUN, DesiredState.ABORT, DesiredState.FINALIZE]) await sendFirst(desired);
    await host.publishStatus({ ...request, owner: ownerWith("first") }, { phase: "SUCCEEDED" });
    expect(calls).toEqual(["run first", "run later"]);
    expect([told().length, bus.unacknowledged]).toEqual([before, 0]);
    await host.publishStatus({ ...request, ...later }, { phase: "SUCCEEDED" });
    expect(told().at(-1)).toEqual(["SUCCEEDED", 0, ""]);
  });

  it("is not affected by an older request of an execution that this process has not seen", async () => {
    await serveNoted();
    await sendLater(DesiredState.RUN);
    await sendFirst(DesiredState.RUN);
    expect([calls, bus.unacknowledged]).toEqual([["run later"], 0]);
  });

  it("is aborted first when it has not ended, after the call in progress", async () => {
    await serveNoted({
      reconcile: (given) => {
        note("run", given);
        return new Promise((resolve) => (release = () => resolve({ phase: "RUNNING" })));
      },
    });
    await sendFirst(DesiredState.RUN);
    await sendLater(DesiredState.RUN);
    expect(calls).toEqual(["run first"]);
    release();
    await settlePromises();
    expect([calls, told()]).toEqual([["run first", "abort first", "run later"], []]);
    release();
    await settlePromises();
    expect(told()).toEqual([["RUNNING", 0, ""]]);
  });

  it("is finalized first when that has failed before", async () => {
    let failures = 1;
    await serveNoted({
      finalize: (given) => {
        note("finalize", given);
        if (failures-- > 0) throw new RetryLater("not now");
      },
    });
    await sendFirst(DesiredState.RUN);
    await sendFirst(DesiredState.FINALIZE);
    await sendLater(DesiredState.RUN);
    await bus.redeliver();
    await settlePromises();
    expect(calls).toEqual(["run first", "finalize first", "finalize first", "run later"]);
    expect(bus.unacknowledged).toBe(0);
  });

  it("counts as the same one for requests that name no owner", async () => {
    await serveNoted();
    await sendFirst(DesiredState.RUN);
    await send(DesiredState.RUN, { owner: undefined });
    expect([calls, told().map(([phase]) => phase)]).toEqual([["run first"], ["SUCCEEDED", "SUCCEEDED"]]);
  });
});
