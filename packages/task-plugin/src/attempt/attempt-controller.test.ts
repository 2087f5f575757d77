import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { pluginHelloSubject, taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger, Metrics } from "@flyte-ts/telemetry";
import { beforeEach, describe, expect, it } from "vitest";
import { PermanentFailure, RetryableFailure } from "../failure.js";
import { decodeHeartbeat } from "@flyte-ts/bus-contract";
import { MemoryBus, pluginConformance, type PluginEnvironment, sampleRequest } from "../harness.js";
import { RetryLater } from "../retry-later.js";
import { definePlugin, type Plugin, type PluginHost } from "../plugin.js";
import { type RunningPlugin, runPlugin } from "../service/run-plugin.js";
import type { TaskStatus } from "../status.js";

const logger = createLogger({ service: "test", level: "silent" });

/** A job service that outlives the plugin's processes. */
class JobWorld implements PluginEnvironment {
  readonly jobs = new Map<string, { starts: number; state: "running" | "done" | "stopped" }>();
  readonly #requests = new Map<string, TaskRequest>();
  #host: PluginHost | undefined;

  plugin(): Plugin {
    return definePlugin({
      name: "job",
      taskTypes: ["job"],
      start: (host) => {
        this.#host = host;
      },
      reconcile: (request): TaskStatus => {
        if (request.template?.config.bad === "yes") throw new PermanentFailure({ code: "Bad", message: "bad template" });
        const job = this.jobs.get(request.generatedName) ?? { starts: 0, state: "running" as const };
        if (job.starts === 0) job.starts++;
        this.jobs.set(request.generatedName, job);
        this.#requests.set(request.generatedName, request);
        return this.#status(request);
      },
      abort: (request): TaskStatus & { phase: "ABORTED" | "SUCCEEDED" } => {
        const job = this.jobs.get(request.generatedName);
        if (job?.state === "done") return { phase: "SUCCEEDED" };
        if (job !== undefined) job.state = "stopped";
        return { phase: "ABORTED" };
      },
      listAttempts: ({ workflowKey }) =>
        [...this.#requests.values()].filter((request) => request.workflowKey === workflowKey && this.isRunning(request)),
    });
  }

  #status(request: TaskRequest): TaskStatus {
    return this.jobs.get(request.generatedName)?.state === "done" ? { phase: "SUCCEEDED" } : { phase: "RUNNING" };
  }

  request(): TaskRequest {
    return sampleRequest("job");
  }

  invalidRequest(): TaskRequest {
    const request = sampleRequest("job");
    if (request.template !== undefined) request.template.config.bad = "yes";
    return request;
  }

  async complete(request: TaskRequest): Promise<void> {
    const job = this.jobs.get(request.generatedName);
    if (job === undefined || job.state === "done") return;
    job.state = "done";
    await this.#host?.publishStatus(request, { phase: "SUCCEEDED" });
  }

  startCount(request: TaskRequest): number {
    return this.jobs.get(request.generatedName)?.starts ?? 0;
  }

  isRunning(request: TaskRequest): boolean {
    return this.jobs.get(request.generatedName)?.state === "running";
  }
}

describe("a minimal plugin passes the conformance cases", () => {
  it.each(pluginConformance(() => new JobWorld()))("$name", async ({ run }) => {
    await expect(run()).resolves.toBeUndefined();
  });
});

describe("the conformance cases detect", () => {
  it.each([
    ["a plugin that starts another job for a repeated request", (world: JobWorld) => world.jobs.forEach((job) => job.starts++)],
    ["a plugin whose aborted jobs continue", (world: JobWorld) => world.jobs.forEach((job) => (job.state = "running"))],
  ])("%s", async (_, spoil) => {
    class Broken extends JobWorld {
      override plugin(): Plugin {
        const good = super.plugin();
        const spoiled = <T>(value: T): T => {
          spoil(this);
          return value;
        };
        return { ...good, reconcile: async (r) => spoiled(await good.reconcile(r)), abort: async (r) => spoiled(await good.abort(r)) };
      }
    }
    const results = await Promise.allSettled(pluginConformance(() => new Broken()).map(({ run }) => run()));
    expect(results.some(({ status }) => status === "rejected")).toBe(true);
  });
});

describe("AttemptController", () => {
  let bus: MemoryBus;
  let clock: ManualTime;
  let running: RunningPlugin;
  let host: PluginHost;
  const request = sampleRequest("t");

  const serve = async (over: Partial<Plugin>, metrics?: Metrics) => {
    running = await runPlugin({
      metrics,
      plugin: definePlugin({
        name: "test",
        taskTypes: ["t"],
        start: (given) => {
          host = given;
        },
        reconcile: () => ({ phase: "RUNNING" }),
        abort: () => ({ phase: "ABORTED" }),
        ...over,
      }),
      bus,
      logger,
      clock,
      random: () => 0.5,
    });
  };
  const send = async (desired: DesiredState, over: Partial<TaskRequest> = {}) => {
    const sent = { ...sampleRequest("t"), ...over, desired };
    await bus.send(taskRequestSubject("t", sent.shard), toBinary(TaskRequestSchema, sent));
    await settlePromises();
  };
  const told = () => bus.events.map(({ event }) => [Phase[event?.phase ?? 0], event?.phaseVersion, event?.reason]);

  beforeEach(() => {
    bus = new MemoryBus();
    clock = new ManualTime();
  });

  it("reports the requests in progress and the age of the oldest", async () => {
    const metrics = new Metrics();
    const level = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;
    let answer: (status: TaskStatus) => void = () => undefined;
    await serve({ reconcile: () => new Promise<TaskStatus>((done) => (answer = done)) }, metrics);
    await send(DesiredState.RUN);
    await clock.advance(90_000);
    expect([await level("flyte_plugin_requests_in_hand"), await level("flyte_plugin_oldest_request_seconds")]).toEqual([1, 90]);
    answer({ phase: "RUNNING" });
    await settlePromises();
    expect([await level("flyte_plugin_requests_in_hand"), await level("flyte_plugin_oldest_request_seconds")]).toEqual([0, 0]);
  });

  it("raises the phase version with each change and republishes the same event without one", async () => {
    await serve({});
    await send(DesiredState.RUN);
    await host.publishStatus(request, { phase: "RUNNING", reason: "pulling" });
    await host.publishStatus(request, { phase: "RUNNING", reason: "pulling" });
    await host.publishStatus(request, { phase: "QUEUED", reason: "late" });
    expect(told()).toEqual([
      ["RUNNING", 0, ""],
      ["RUNNING", 1, "pulling"],
    ]);
  });

  it("publishes RUNNING before the terminal event to a propeller that missed it", async () => {
    await serve({});
    await send(DesiredState.RUN);
    await host.publishStatus(request, { phase: "RUNNING", reason: "pulling" });
    await host.publishStatus(request, { phase: "SUCCEEDED" });
    const before = told().length;
    await send(DesiredState.RUN, { knownPhase: Phase.QUEUED });
    const again = [
      ["RUNNING", 0, ""],
      ["SUCCEEDED", 0, ""],
    ];
    expect(told().slice(before)).toEqual(again);
    await send(DesiredState.RUN, { knownPhase: Phase.RUNNING });
    expect(told().slice(before)).toEqual([...again, ["SUCCEEDED", 0, ""]]);
  });

  it("exceeds the phase version that propeller knows after a restart", async () => {
    await serve({});
    await send(DesiredState.RUN, { knownPhase: Phase.RUNNING, knownPhaseVersion: 4 });
    expect(told()).toEqual([["RUNNING", 5, ""]]);
  });

  it("never reports a phase before the one that propeller knows", async () => {
    await serve({ reconcile: () => ({ phase: "QUEUED" }) });
    await send(DesiredState.RUN, { knownPhase: Phase.RUNNING, knownPhaseVersion: 4 });
    expect(told()).toEqual([]);
    expect(bus.unacknowledged).toBe(0);
  });

  it("keeps a requeued request in memory, publishes the reason and retries", async () => {
    let tries = 0;
    await serve({
      reconcile: () => {
        if (++tries < 3) throw new RetryLater("quota", { status: { phase: "WAITING_FOR_RESOURCES", reason: "quota used up" } });
        return { phase: "RUNNING" };
      },
    });
    await send(DesiredState.RUN);
    expect(bus.unacknowledged).toBe(0);
    await clock.advance(60_000);
    expect(told()).toEqual([
      ["WAITING_FOR_RESOURCES", 0, "quota used up"],
      ["RUNNING", 0, ""],
    ]);
  });

  it("publishes an unexpected error as the reason and retries", async () => {
    let tries = 0;
    await serve({
      reconcile: () => {
        if (++tries === 1) throw new TypeError("x is undefined");
        return { phase: "RUNNING" };
      },
    });
    await send(DesiredState.RUN);
    await clock.advance(1_000);
    expect(told()).toEqual([
      ["QUEUED", 0, "x is undefined"],
      ["RUNNING", 0, ""],
    ]);
  });

  it("logs an error that each retry repeats once, and another one again", async () => {
    const errors: object[] = [];
    const counting = { ...logger, info: () => undefined, warn: () => undefined, error: (fields: object) => errors.push(fields) };
    let text = "denied";
    const plugin = definePlugin({
      name: "job",
      taskTypes: ["job"],
      reconcile: () => ({ phase: "RUNNING" }),
      abort: () => {
        throw new Error(text);
      },
    });
    const [own, time] = [new MemoryBus(), new ManualTime()];
    const service = await runPlugin({ plugin, bus: own, logger: counting as unknown as typeof logger, clock: time, random: () => 0.5 });
    const abort = async () => {
      const request = { ...sampleRequest("job"), desired: DesiredState.ABORT };
      await own.send(taskRequestSubject("job", 7), toBinary(TaskRequestSchema, request));
      await time.advance(60_000);
    };
    await abort();
    await abort();
    expect(errors).toHaveLength(1);
    text = "throttled";
    await time.advance(60_000);
    expect(errors).toHaveLength(2);
    await service.stop();
  });

  it("an ABORT cancels a requeued request", async () => {
    let tries = 0;
    await serve({
      reconcile: () => {
        tries++;
        throw new RetryLater("not now");
      },
    });
    await send(DesiredState.RUN);
    await send(DesiredState.ABORT);
    await clock.advance(600_000);
    expect(tries).toBe(1);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
  });

  /** Sends a request to abort all attempts of the sample's workflow. */
  const abortAll = (workflowKey = request.workflowKey) =>
    send(DesiredState.ABORT_ALL, { workflowKey, generatedName: "", id: undefined, template: undefined });

  it("aborts a requeued request with the other attempts of its workflow", async () => {
    let tries = 0;
    await serve({
      reconcile: () => {
        tries++;
        throw new RetryLater("quota");
      },
    });
    await send(DesiredState.RUN);
    await abortAll("another/workflow");
    expect(told().at(-1)?.[0]).toBe("QUEUED");
    await abortAll();
    await clock.advance(600_000);
    expect(tries).toBe(1);
    expect(told().at(-1)?.[0]).toBe("ABORTED");
    expect(bus.unacknowledged).toBe(0);
  });

  it("aborts an attempt that was being started, and acknowledges the abort of its workflow after that", async () => {
    let start: () => void = () => undefined;
    await serve({ reconcile: () => new Promise((resolve) => (start = () => resolve({ phase: "RUNNING" }))) });
    await send(DesiredState.RUN);
    await abortAll();
    expect(bus.unacknowledged).toBe(2);
    start();
    await settlePromises();
    expect(told().map(([phase]) => phase)).toEqual(["RUNNING", "ABORTED"]);
    await bus.redeliver();
    await settlePromises();
    expect(bus.unacknowledged).toBe(0);
  });

  it("does not retry a request that fails while the service stops, and leaves it on the bus", async () => {
    let tries = 0;
    let fail: () => void = () => undefined;
    await serve({
      reconcile: () => {
        tries++;
        return new Promise((_, reject) => (fail = () => reject(new RetryLater("not now"))));
      },
    });
    await send(DesiredState.RUN);
    const stopping = running.stop();
    await settlePromises();
    fail();
    await stopping;
    await clock.advance(600_000);
    expect([tries, bus.unacknowledged]).toEqual([1, 1]);
  });

  it("acknowledges FINALIZE only after it was processed", async () => {
    let tries = 0;
    await serve({
      finalize: () => {
        if (++tries === 1) throw new RetryLater("not now");
      },
    });
    await send(DesiredState.FINALIZE);
    expect(bus.unacknowledged).toBe(1);
    await bus.redeliver();
    await settlePromises();
    expect(bus.unacknowledged).toBe(0);
    expect(told()).toEqual([]);
  });

  it("publishes only the result of the abort while an attempt is aborted", async () => {
    let stopped: () => void = () => undefined;
    await serve({ abort: () => new Promise((resolve) => (stopped = () => resolve({ phase: "ABORTED" }))) });
    await send(DesiredState.RUN);
    await send(DesiredState.ABORT);
    await host.publishStatus(request, { phase: "FAILED", failure: new RetryableFailure({ code: "x", message: "killed", kind: "SYSTEM" }) });
    stopped();
    await settlePromises();
    expect(told().map(([phase]) => phase)).toEqual(["RUNNING", "ABORTED"]);
  });

  it("does not start an attempt whose terminal phase propeller knows", async () => {
    let asked = 0;
    await serve({
      reconcile: () => {
        asked++;
        return { phase: "RUNNING" };
      },
    });
    await send(DesiredState.RUN, { knownPhase: Phase.SUCCEEDED });
    expect(asked).toBe(0);
    expect(bus.unacknowledged).toBe(0);
  });

  it("fails a request with readable ids and a template of another task type", async () => {
    await serve({});
    await bus.send(taskRequestSubject("t", 7), toBinary(TaskRequestSchema, sampleRequest("other")));
    await settlePromises();
    expect(told()[0]?.[0]).toBe("FAILED");
    expect(bus.events[0]?.failure?.recoverable).toBe(false);
  });

  it("sends a heartbeat every ten seconds until it stops", async () => {
    await serve({});
    await clock.advance(20_000);
    await running.stop();
    await clock.advance(20_000);
    const heartbeats = bus.ephemeral.filter(({ subject }) => subject === pluginHelloSubject).map(({ data }) => decodeHeartbeat(data));
    const { instance } = heartbeats[0] ?? {};
    expect(instance).toMatch(/./);
    const heartbeat = { name: "test", taskTypes: ["t"], instance, load: { attempts: 0, oldestRequestMs: 0 } };
    expect(heartbeats).toEqual([0, 10_000, 20_000].map((uptimeMs) => ({ ...heartbeat, uptimeMs })));
  });

  it("returns the stored plugin state until the plugin sets another", async () => {
    await serve({ reconcile: () => ({ phase: "RUNNING" }) });
    await send(DesiredState.RUN, { pluginState: new Uint8Array([1, 2]) });
    expect([...(bus.events[0]?.pluginState ?? [])]).toEqual([1, 2]);
    expect(fromBinary(TaskRequestSchema, toBinary(TaskRequestSchema, request)).shard).toBe(7);
  });
});
