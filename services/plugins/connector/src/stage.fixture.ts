import { clone, toBinary } from "@bufbuild/protobuf";
import { ManualTime, settlePromises } from "@flyte-ts/async/manual-time";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus, MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { createLogger, type Logger } from "@flyte-ts/telemetry";
import { connectorService } from "./connector-service.js";
import { testSettings } from "./settings.fixture.js";
import { ToyConnector } from "./toy-connector.fixture.js";

export interface StageOptions {
  readonly settings?: Parameters<typeof testSettings>[0];
  readonly logger?: Logger;
}

/** A service on a bus in memory, with a connector for each endpoint. */
export class Stage {
  readonly bus = new MemoryBus();
  readonly clock = new ManualTime();
  readonly store = new MemoryStore();
  readonly connectors = new Map<string, ToyConnector>();
  #running: RunningPlugin | undefined;

  private constructor(private readonly options: StageOptions) {}

  static async start(options: StageOptions = {}): Promise<Stage> {
    const stage = new Stage(options);
    await stage.startProcess();
    return stage;
  }

  /** The connector of the endpoint `toys`. */
  get toys(): ToyConnector {
    return this.connector("toys");
  }

  connector(name: string): ToyConnector {
    const connector = this.connectors.get(name) ?? new ToyConnector();
    this.connectors.set(name, connector);
    return connector;
  }

  async startProcess(): Promise<void> {
    const { bus, clock, store } = this;
    const logger = this.options.logger ?? createLogger({ service: "test", level: "silent" });
    const config = testSettings(this.options.settings);
    const connect = ({ name }: { readonly name: string }) => this.connector(name);
    const service = connectorService({ config, store, clock, logger, random: () => 0.5, connect });
    this.#running = await runPlugin({ plugin: service.plugin, bus, logger, clock, random: () => 0.5 });
    await clock.advance(0);
  }

  /** Replaces the process and loses its memory; its calls in progress end first. */
  async restart(): Promise<void> {
    const stopping = this.#running?.stop();
    await this.clock.advance(25_000);
    await stopping;
    await this.startProcess();
  }

  request(taskType = "toy", over: Partial<TaskRequest> = {}): TaskRequest {
    return sampleRequest(taskType, over);
  }

  /** One of many attempts, each with a name and an output prefix of its own. */
  numbered(index: number, taskType = "toy", over: Partial<TaskRequest> = {}): TaskRequest {
    return sampleRequest(taskType, { generatedName: `a-n${index}-0`, outputPrefix: `s3://bucket/n${index}/0`, ...over });
  }

  async send(request: TaskRequest, desired: DesiredState = DesiredState.RUN): Promise<void> {
    const copy = { ...clone(TaskRequestSchema, request), desired, deleteResources: desired !== DesiredState.RUN };
    await this.bus.send(taskRequestSubject(request.template?.type ?? "", request.shard), toBinary(TaskRequestSchema, copy));
    await settlePromises();
  }

  /**
   * Finalizes an ended attempt as propeller does: the last one when its end asks for that, one that
   * another follows in any case.
   */
  async finalize(request: TaskRequest, { followed = false } = {}): Promise<void> {
    const { generatedName } = request;
    const end = this.bus.events.findLast(({ event }) => event?.metadata?.generatedName === generatedName);
    if (followed || end?.cleanup || end?.failure?.cleanup) await this.send(request, DesiredState.FINALIZE);
  }

  get last(): TaskEvent | undefined {
    return this.bus.events.at(-1);
  }

  /** Phase and reason or error of each event. */
  get history(): readonly string[] {
    return this.bus.events.map(({ event }) => {
      const error = event?.outputResult.case === "error" ? event.outputResult.value : undefined;
      const text = error === undefined ? (event?.reason ?? "") : `${error.code} ${error.message}`;
      return `${Phase[event?.phase ?? 0]} ${text}`.trim();
    });
  }

  /** Outcome in the last event: phase, recoverable, kind, code. */
  get end() {
    const { event, failure } = this.last ?? {};
    const error = event?.outputResult.case === "error" ? event.outputResult.value : undefined;
    return { phase: Phase[event?.phase ?? 0], recoverable: failure?.recoverable, kind: error?.kind, code: error?.code };
  }
}
