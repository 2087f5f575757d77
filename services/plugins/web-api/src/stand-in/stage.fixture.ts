import { toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { type ProcessOptions, webApiProcess } from "./process.fixture.js";

/** A bus, a clock and one process of the service at a time. */
export class Stage {
  readonly bus = new MemoryBus();
  readonly clock = new ManualTime();
  #running: RunningPlugin | undefined;

  constructor(private readonly options: Omit<ProcessOptions, "clock">) {}

  async start(): Promise<this> {
    const logger = createLogger({ service: "test", level: "silent" });
    const plugin = webApiProcess({ ...this.options, clock: this.clock });
    this.#running = await runPlugin({ plugin, bus: this.bus, logger, clock: this.clock, random: () => 0.5 });
    return this;
  }

  /** Ends the process and starts another one, which knows only the contents of requests. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  async send(request: TaskRequest, desired = DesiredState.RUN): Promise<void> {
    const sent = { ...request, desired, requestedAt: timestampFromMs(this.clock.now()) };
    await this.bus.send(taskRequestSubject(request.template?.type ?? "", request.shard), toBinary(TaskRequestSchema, sent));
    await settlePromises();
  }

  /** Sends the request with the state of the newest event in progress, as propeller does. */
  async sendAgain(request: TaskRequest, desired = DesiredState.RUN): Promise<void> {
    const { event, pluginState = new Uint8Array() } = this.#lastInProgress(request) ?? {};
    await this.send({ ...request, pluginState, knownPhase: event?.phase ?? 0, knownPhaseVersion: event?.phaseVersion ?? 0 }, desired);
  }

  /**
   * Finalizes an ended attempt as propeller does: the last one when its end asks for that, with the
   * state of its progress; one that another follows in any case, and without a state, since that
   * of the other is stored.
   */
  async finalize(request: TaskRequest, { followed = false } = {}): Promise<void> {
    const { cleanup, failure } = this.last(request) ?? {};
    const ended = { ...request, deleteResources: true };
    if (followed) await this.send(ended, DesiredState.FINALIZE);
    else if (cleanup || failure?.cleanup) await this.sendAgain(ended, DesiredState.FINALIZE);
  }

  eventsOf({ generatedName }: TaskRequest): TaskEvent[] {
    return this.bus.events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  }

  last(request: TaskRequest): TaskEvent | undefined {
    return this.eventsOf(request).at(-1);
  }

  #lastInProgress(request: TaskRequest): TaskEvent | undefined {
    return this.eventsOf(request).findLast(({ event }) => !isTerminalTaskEvent(event?.phase ?? Phase.UNDEFINED));
  }

  /** The newest phase with the code and kind of a failure, or else the reason. */
  state(request: TaskRequest): string {
    const { event, failure } = this.last(request) ?? {};
    const phase = Phase[event?.phase ?? 0] ?? "";
    if (event?.outputResult.case !== "error") return `${phase}: ${event?.reason}`;
    const { code, kind, message } = event.outputResult.value;
    return `${phase}: ${failure?.recoverable ? "retryable" : "permanent"} ${["UNKNOWN", "USER", "SYSTEM"][kind]} ${code}: ${message}`;
  }
}
