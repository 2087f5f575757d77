import { toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Pod } from "@flyte-ts/pod-task";
import { WARM_STATE_LABEL } from "@flyte-ts/pod-task/warm";
import { attemptKey, type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus } from "@flyte-ts/task-plugin/harness";
import { logger, type PodWorld } from "./pod-world.js";
import { warmRequest } from "./warm-world.js";

/** Runs the plugin in a simulated cluster with warm pods, with a clock that tests advance. */
export class WarmBench<World extends PodWorld> {
  readonly bus = new MemoryBus();
  readonly clock = new ManualTime();
  #running: RunningPlugin | undefined;

  constructor(readonly world: World) {}

  /** Starts a process of the plugin, after an earlier one has stopped. */
  start = async () => {
    const { world, bus, clock } = this;
    this.#running = await runPlugin({ plugin: world.plugin(clock), bus, logger, clock, random: () => 0.5 });
    // Calls of an earlier process are settled.
    await this.advance(5_000);
  };

  stop = async () => this.#running?.stop();

  advance = async (ms: number) => {
    await this.clock.advance(ms);
    await settlePromises();
  };

  send = async (desired: DesiredState, over: Partial<TaskRequest> = {}) => {
    const { deleteResources = desired !== DesiredState.RUN } = over;
    const request = { ...warmRequest(over), desired, deleteResources };
    await this.bus.send(taskRequestSubject("python-task", request.shard), toBinary(TaskRequestSchema, request));
    await settlePromises();
  };

  pods = (state: "idle" | "taken") =>
    [...this.world.cluster.pods.values()].filter(({ metadata }) => metadata.labels?.[WARM_STATE_LABEL] === state);
  names = (state: "idle" | "taken") => this.pods(state).map(({ metadata }) => metadata.name);
  phases = () => this.bus.events.map(({ event }) => Phase[event?.phase ?? 0]);
  taken = () => this.world.cluster.podOf(attemptKey(warmRequest())) as Pod;
}
