import assert from "node:assert/strict";
import { clone, create, toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type Owner, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { createLogger } from "@flyte-ts/telemetry";
import type { Plugin } from "../plugin.js";
import { type RunningPlugin, runPlugin } from "../service/run-plugin.js";
import { MemoryBus } from "./memory-bus.js";

/** The environment that outlives the plugin's process: a cluster, a job service. */
export interface PluginEnvironment {
  /** Creates the plugin as in a new process, which has no state in memory. */
  plugin(clock: ManualTime): Plugin;
  /** A valid request. */
  request(): TaskRequest;
  /** A request whose template can never work. */
  invalidRequest?(): TaskRequest;
  /** Lets a started attempt succeed. */
  complete(request: TaskRequest, clock: ManualTime): Promise<void> | void;
  /** Number of starts of the attempt; undefined for a plugin without external effects. */
  startCount?(request: TaskRequest): number;
  /** Waits until no call is in flight; for plugins whose calls leave the process. */
  settle?(): Promise<void>;
  /** True while anything of the attempt runs. */
  isRunning?(request: TaskRequest): boolean;
}

export interface ConformanceCase {
  readonly name: string;
  readonly run: () => Promise<void>;
}

/** Cases that every plugin must pass; each runs in a new environment. */
export function pluginConformance(makeEnvironment: () => PluginEnvironment): ConformanceCase[] {
  const testCase = (name: string, body: (scenario: Scenario) => Promise<void>): ConformanceCase => ({
    name,
    run: async () => {
      const scenario = new Scenario(makeEnvironment());
      await scenario.startProcess();
      await body(scenario);
      scenario.checkHistory();
      await scenario.stopProcess();
    },
  });
  const cases = [
    testCase("runs an attempt to its end", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      scenario.expectLast(Phase.SUCCEEDED);
      scenario.expectStartCount(1);
      scenario.expectAllAcknowledged();
    }),
    testCase("starts the attempt of a repeated request once and answers every repeat", async (scenario) => {
      await Promise.all([scenario.send(DesiredState.RUN), scenario.send(DesiredState.RUN), scenario.send(DesiredState.RUN)]);
      const before = scenario.bus.published.length;
      await scenario.send(DesiredState.RUN);
      assert.ok(scenario.bus.published.length > before, "a repeated request is answered");
      await scenario.complete();
      scenario.expectLast(Phase.SUCCEEDED);
      scenario.expectStartCount(1);
      scenario.expectAllAcknowledged();
    }),
    testCase("repeats the terminal event when it was lost", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      scenario.bus.published.length = 0;
      await scenario.send(DesiredState.RUN);
      scenario.expectLast(Phase.SUCCEEDED);
      scenario.expectStartCount(1);
    }),
    testCase("reports the end again when the event and the process were lost", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      scenario.bus.published.length = 0;
      await scenario.crash();
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      scenario.expectLast(Phase.SUCCEEDED);
      scenario.expectStartCount(1);
    }),
    testCase("continues an attempt that an earlier process started", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.crash();
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      scenario.expectLast(Phase.SUCCEEDED);
      scenario.expectStartCount(1);
    }),
    testCase("aborts an attempt and reports it", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.send(DesiredState.ABORT);
      await scenario.settleTimers();
      scenario.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      scenario.expectNothingRuns();
      scenario.expectAllAcknowledged();
    }),
    testCase("reports ABORTED for an attempt that never started, and does not start it later", async (scenario) => {
      await scenario.send(DesiredState.ABORT);
      await scenario.settleTimers();
      scenario.expectLast(Phase.ABORTED);
      await scenario.send(DesiredState.RUN);
      await scenario.settleTimers();
      scenario.expectLast(Phase.ABORTED);
      scenario.expectStartCount(0);
      scenario.expectAllAcknowledged();
    }),
    testCase("leaves nothing running when RUN and ABORT race", async (scenario) => {
      await Promise.all([scenario.send(DesiredState.RUN), scenario.send(DesiredState.ABORT), scenario.send(DesiredState.RUN)]);
      await scenario.settleTimers();
      scenario.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      scenario.expectNothingRuns();
      scenario.expectAllAcknowledged();
    }),
    testCase("aborts an attempt that an earlier process started", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.crash();
      await scenario.send(DesiredState.ABORT);
      await scenario.settleTimers();
      scenario.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      scenario.expectNothingRuns();
    }),
    testCase("aborts all attempts of a workflow, its own and those of an earlier process", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.crash();
      await scenario.send(DesiredState.RUN);
      await scenario.abortAll("00000000-0000-4000-8000-00000000beef", "p-development/another");
      scenario.expectSomethingRuns();
      await scenario.abortAll();
      scenario.expectLast(Phase.ABORTED, Phase.SUCCEEDED, Phase.FAILED);
      scenario.expectNothingRuns();
      await scenario.abortAll();
      scenario.expectAllAcknowledged();
    }),
    testCase("aborts all attempts of a workflow that an earlier process started and no request has named since", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.crash();
      await scenario.abortAll();
      scenario.expectNothingRuns();
      scenario.expectAllAcknowledged();
    }),
    testCase("accepts repeated FINALIZE requests, before and after a restart, without events", async (scenario) => {
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      const before = scenario.bus.published.length;
      await scenario.send(DesiredState.FINALIZE);
      await scenario.send(DesiredState.FINALIZE);
      await scenario.crash();
      await scenario.send(DesiredState.FINALIZE);
      await scenario.settleTimers();
      assert.equal(scenario.bus.published.length, before, "FINALIZE is not answered");
      scenario.expectNothingRuns();
      scenario.expectAllAcknowledged();
    }),
    testCase("discards an undecodable request and serves the next", async (scenario) => {
      await scenario.bus.send(scenario.subject, new Uint8Array([0xff, 0xff, 0xff]));
      await scenario.send(DesiredState.RUN);
      await scenario.complete();
      scenario.expectLast(Phase.SUCCEEDED);
      scenario.expectAllAcknowledged();
    }),
  ];
  if (makeEnvironment().invalidRequest !== undefined) {
    cases.push(
      testCase("fails permanently for an invalid template", async (scenario) => {
        await scenario.send(DesiredState.RUN, scenario.environment.invalidRequest?.());
        await scenario.settleTimers();
        scenario.expectLast(Phase.FAILED);
        assert.equal(scenario.bus.events.at(-1)?.failure?.recoverable, false, "no retry helps");
        scenario.expectAllAcknowledged();
      }),
    );
  }
  return cases;
}

/** The end of an attempt's output prefix below the folder of its execution. */
const NODE_FOLDERS = /\/[^/]+\/data\/\d+$/;

/** An environment with one process of the plugin at a time. */
class Scenario {
  readonly bus = new MemoryBus();
  readonly clock = new ManualTime();
  readonly request: TaskRequest;
  readonly subject: string;
  #process: RunningPlugin | undefined;

  constructor(readonly environment: PluginEnvironment) {
    this.request = environment.request();
    this.subject = taskRequestSubject(this.request.template?.type ?? "", this.request.shard);
  }

  async startProcess(): Promise<void> {
    const logger = createLogger({ service: "harness", level: "silent" });
    this.#process = await runPlugin({
      plugin: this.environment.plugin(this.clock),
      bus: this.bus,
      logger,
      clock: this.clock,
      random: () => 0.5,
    });
    await this.settle();
  }

  async stopProcess(): Promise<void> {
    await this.#process?.stop();
  }

  /** Replaces the plugin's process by a new one, without the old one's state in memory. */
  async crash(): Promise<void> {
    await this.stopProcess();
    await this.startProcess();
    await this.bus.redeliver();
    await this.settle();
  }

  async send(desired: DesiredState, request: TaskRequest = this.request): Promise<void> {
    const copy = clone(TaskRequestSchema, request);
    copy.desired = desired;
    copy.deleteResources = desired !== DesiredState.RUN;
    await this.bus.send(this.subject, toBinary(TaskRequestSchema, copy));
    await this.settle();
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
      outputPrefix: this.request.outputPrefix.replace(NODE_FOLDERS, ""),
      abortReason: "unreadable",
    });
    await this.bus.send(this.subject, toBinary(TaskRequestSchema, request));
    for (let attempt = 0; attempt < 5; attempt++) {
      await this.settleTimers();
      await this.bus.redeliver();
      await this.settle();
    }
  }

  async complete(): Promise<void> {
    await this.settle();
    await this.environment.complete(this.request, this.clock);
    await this.settle();
  }

  /** Advances the clock for retries and slow stops. */
  async settleTimers(): Promise<void> {
    await this.clock.advance(60_000);
    await this.settle();
  }

  async settle(): Promise<void> {
    await settlePromises();
    if (this.environment.settle === undefined) return;
    await this.environment.settle();
    await settlePromises();
  }

  expectLast(...phases: readonly Phase[]): void {
    const last = this.bus.events.at(-1)?.event;
    assert.ok(last !== undefined, "an event was published");
    const found = `${Phase[last.phase]} ${last.outputResult.case === "error" ? last.outputResult.value.message : ""}`;
    assert.ok(phases.includes(last.phase), `last event is one of ${phases.map((phase) => Phase[phase]).join(", ")}, not ${found}`);
  }

  expectStartCount(times: number): void {
    if (this.environment.startCount !== undefined) assert.equal(this.environment.startCount(this.request), times, "number of starts");
  }

  expectSomethingRuns(): void {
    if (this.environment.isRunning !== undefined) assert.equal(this.environment.isRunning(this.request), true, "nothing runs");
  }

  expectNothingRuns(): void {
    if (this.environment.isRunning !== undefined) assert.equal(this.environment.isRunning(this.request), false, "something runs");
  }

  expectAllAcknowledged(): void {
    assert.equal(this.bus.unacknowledged, 0, "number of unacknowledged messages");
  }

  /** Checks that every event names its attempt and that no event follows a terminal one. */
  checkHistory(): void {
    const terminalPhases = new Set<Phase>();
    for (const event of this.bus.events) {
      checkIds(event, this.request);
      const phase = event.event?.phase ?? Phase.UNDEFINED;
      if ([Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED].includes(phase)) terminalPhases.add(phase);
      else assert.equal(terminalPhases.size, 0, "no event follows a terminal one");
    }
    // After a restart, a plugin without external state no longer knows the terminal event that it
    // reported and may report another; consumers keep the first.
    if (this.environment.startCount !== undefined) assert.ok(terminalPhases.size <= 1, "an attempt has one terminal phase");
  }
}

function checkIds(event: TaskEvent, request: TaskRequest): void {
  assert.equal(event.workflowKey, request.workflowKey);
  assert.equal(event.nodePath, request.nodePath);
  assert.equal(event.event?.taskId?.name, request.id?.taskId?.name);
  assert.equal(event.event?.parentNodeExecutionId?.nodeId, request.id?.nodeExecutionId?.nodeId);
  assert.equal(event.event?.retryAttempt, request.id?.retryAttempt);
  assert.equal(event.event?.metadata?.generatedName, request.generatedName);
}
