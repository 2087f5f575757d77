import assert from "node:assert/strict";
import { clone, create, toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/domain";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type Owner, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import type { Plugin } from "../plugin.js";
import { type RunningPlugin, runPlugin } from "../run-plugin.js";
import { MemoryBus } from "./memory-bus.js";

/** The environment that outlives the plugin's process: a cluster, a job service. */
export interface PluginWorld {
  /** Creates a process of the plugin, without memory. */
  plugin(clock: ManualTime): Plugin;
  /** A valid request. */
  request(): TaskRequest;
  /** The same with a template that can never work. */
  badRequest?(): TaskRequest;
  /** Lets a started attempt succeed. */
  finish(request: TaskRequest, clock: ManualTime): Promise<void> | void;
  /** Number of starts of the attempt; undefined for a plugin without external effects. */
  starts?(request: TaskRequest): number;
  /** True while anything of the attempt runs. */
  running?(request: TaskRequest): boolean;
}

export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Cases that every plugin must pass; each runs in a new world. */
export function pluginConformance(makeWorld: () => PluginWorld): ConformanceCase[] {
  const one = (name: string, body: (stage: Stage) => Promise<void>): ConformanceCase => ({
    name,
    run: async () => {
      const stage = new Stage(makeWorld());
      await stage.startProcess();
      await body(stage);
      stage.checkHistory();
      await stage.stopProcess();
    },
  });
  const cases = [
    one("runs an attempt to its end", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.finish();
      stage.expectLast(Phase.SUCCEEDED);
      stage.expectStarts(1);
      stage.expectAllAcknowledged();
    }),
    one("starts a repeated request once and answers every repeat", async (stage) => {
      await Promise.all([stage.send(DesiredState.RUN), stage.send(DesiredState.RUN), stage.send(DesiredState.RUN)]);
      const before = stage.bus.published.length;
      await stage.send(DesiredState.RUN);
      assert.ok(stage.bus.published.length > before, "a repeat is answered");
      await stage.finish();
      stage.expectLast(Phase.SUCCEEDED);
      stage.expectStarts(1);
      stage.expectAllAcknowledged();
    }),
    one("tells the end again when the answer was lost", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.finish();
      stage.bus.published.length = 0;
      await stage.send(DesiredState.RUN);
      stage.expectLast(Phase.SUCCEEDED);
      stage.expectStarts(1);
    }),
    one("tells the end again when answer and memory were lost", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.finish();
      stage.bus.published.length = 0;
      await stage.crash();
      await stage.send(DesiredState.RUN);
      await stage.finish();
      stage.expectLast(Phase.SUCCEEDED);
      stage.expectStarts(1);
    }),
    one("goes on with what an earlier process started", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.crash();
      await stage.send(DesiredState.RUN);
      await stage.finish();
      stage.expectLast(Phase.SUCCEEDED);
      stage.expectStarts(1);
    }),
    one("stops an attempt and says so", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.send(DesiredState.ABORT);
      await stage.rest();
      stage.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      stage.expectNothingRuns();
      stage.expectAllAcknowledged();
    }),
    one("answers ABORT of an attempt that never began, and does not start it later", async (stage) => {
      await stage.send(DesiredState.ABORT);
      await stage.rest();
      stage.expectLast(Phase.ABORTED);
      await stage.send(DesiredState.RUN);
      await stage.rest();
      stage.expectLast(Phase.ABORTED);
      stage.expectStarts(0);
      stage.expectAllAcknowledged();
    }),
    one("leaves nothing running when RUN and ABORT race", async (stage) => {
      await Promise.all([stage.send(DesiredState.RUN), stage.send(DesiredState.ABORT), stage.send(DesiredState.RUN)]);
      await stage.rest();
      stage.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      stage.expectNothingRuns();
      stage.expectAllAcknowledged();
    }),
    one("stops what an earlier process started", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.crash();
      await stage.send(DesiredState.ABORT);
      await stage.rest();
      stage.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      stage.expectNothingRuns();
    }),
    one("stops all attempts of a workflow that cannot name them, its own and those of an earlier process", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.crash();
      await stage.send(DesiredState.RUN);
      await stage.abortAll("00000000-0000-4000-8000-00000000beef", "p-development/another");
      stage.expectSomethingRuns();
      await stage.abortAll();
      stage.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      stage.expectNothingRuns();
      await stage.abortAll();
      stage.expectAllAcknowledged();
    }),
    one("takes FINALIZE twice, before and after a restart, and reports nothing", async (stage) => {
      await stage.send(DesiredState.RUN);
      await stage.finish();
      const before = stage.bus.published.length;
      await stage.send(DesiredState.FINALIZE);
      await stage.send(DesiredState.FINALIZE);
      await stage.crash();
      await stage.send(DesiredState.FINALIZE);
      await stage.rest();
      assert.equal(stage.bus.published.length, before, "FINALIZE is not answered");
      stage.expectNothingRuns();
      stage.expectAllAcknowledged();
    }),
    one("drops what it cannot read and serves the next request", async (stage) => {
      await stage.bus.send(stage.subject, new Uint8Array([0xff, 0xff, 0xff]));
      await stage.send(DesiredState.RUN);
      await stage.finish();
      stage.expectLast(Phase.SUCCEEDED);
      stage.expectAllAcknowledged();
    }),
  ];
  if (makeWorld().badRequest !== undefined) {
    cases.push(
      one("fails a template that can never work, for good", async (stage) => {
        await stage.send(DesiredState.RUN, stage.world.badRequest?.());
        await stage.rest();
        stage.expectLast(Phase.FAILED);
        assert.equal(stage.bus.events.at(-1)?.failure?.recoverable, false, "no retry helps");
        stage.expectAllAcknowledged();
      }),
    );
  }
  return cases;
}

/** A world with one process of the plugin at a time. */
class Stage {
  readonly bus = new MemoryBus();
  readonly clock = new ManualTime();
  readonly request: TaskRequest;
  readonly subject: string;
  #process: RunningPlugin | undefined;

  constructor(readonly world: PluginWorld) {
    this.request = world.request();
    this.subject = taskRequestSubject(this.request.template?.type ?? "", this.request.shard);
  }

  async startProcess(): Promise<void> {
    const logger = createLogger({ service: "harness", level: "silent" });
    this.#process = await runPlugin({ plugin: this.world.plugin(this.clock), bus: this.bus, logger, clock: this.clock, random: () => 0.5 });
    await settlePromises();
  }

  async stopProcess(): Promise<void> {
    await this.#process?.stop();
  }

  /** Replaces the process, without its memory. */
  async crash(): Promise<void> {
    await this.stopProcess();
    await this.startProcess();
    await this.bus.redeliver();
    await settlePromises();
  }

  async send(desired: DesiredState, request: TaskRequest = this.request): Promise<void> {
    const copy = clone(TaskRequestSchema, request);
    copy.desired = desired;
    copy.deleteResources = desired !== DesiredState.RUN;
    await this.bus.send(this.subject, toBinary(TaskRequestSchema, copy));
    await settlePromises();
  }

  /** The request names the resource but no attempt; it is redelivered until it is acknowledged. */
  async abortAll(uid = this.request.owner?.uid ?? "", workflowKey = this.request.workflowKey): Promise<void> {
    const { namespace, owner, shard } = this.request;
    const request = create(TaskRequestSchema, {
      desired: DesiredState.ABORT_ALL,
      workflowKey,
      namespace,
      owner: { ...owner, uid } as Owner,
      shard,
      abortReason: "unreadable",
    });
    await this.bus.send(this.subject, toBinary(TaskRequestSchema, request));
    for (let tries = 0; tries < 5; tries++) {
      await this.rest();
      await this.bus.redeliver();
      await settlePromises();
    }
  }

  async finish(): Promise<void> {
    await settlePromises();
    await this.world.finish(this.request, this.clock);
    await settlePromises();
  }

  /** Advances the clock for retries and slow stops. */
  async rest(): Promise<void> {
    await this.clock.advance(60_000);
  }

  expectLast(...phases: readonly Phase[]): void {
    const last = this.bus.events.at(-1)?.event;
    assert.ok(last !== undefined, "an event was published");
    const found = `${Phase[last.phase]} ${last.outputResult.case === "error" ? last.outputResult.value.message : ""}`;
    assert.ok(phases.includes(last.phase), `last event is one of ${phases.map((phase) => Phase[phase]).join(", ")}, not ${found}`);
  }

  expectStarts(times: number): void {
    if (this.world.starts !== undefined) assert.equal(this.world.starts(this.request), times, "times started");
  }

  expectSomethingRuns(): void {
    if (this.world.running !== undefined) assert.equal(this.world.running(this.request), true, "nothing runs");
  }

  expectNothingRuns(): void {
    if (this.world.running !== undefined) assert.equal(this.world.running(this.request), false, "something runs");
  }

  expectAllAcknowledged(): void {
    assert.equal(this.bus.unacknowledged, 0, "messages without acknowledgement");
  }

  /** Checks that every event names its attempt and that none follows an end. */
  checkHistory(): void {
    const ends = new Set<Phase>();
    for (const told of this.bus.events) {
      checkIds(told, this.request);
      const phase = told.event?.phase ?? Phase.UNDEFINED;
      if ([Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED].includes(phase)) ends.add(phase);
      else assert.equal(ends.size, 0, "an attempt that ended does not come back");
    }
    // A plugin without external state forgets an end that it reported before a restart; consumers keep the first.
    if (this.world.starts !== undefined) assert.ok(ends.size <= 1, "an attempt ends in one way");
  }
}

function checkIds(told: TaskEvent, request: TaskRequest): void {
  assert.equal(told.workflowKey, request.workflowKey);
  assert.equal(told.nodePath, request.nodePath);
  assert.equal(told.event?.taskId?.name, request.id?.taskId?.name);
  assert.equal(told.event?.parentNodeExecutionId?.nodeId, request.id?.nodeExecutionId?.nodeId);
  assert.equal(told.event?.retryAttempt, request.id?.retryAttempt);
  assert.equal(told.event?.metadata?.generatedName, request.generatedName);
}
