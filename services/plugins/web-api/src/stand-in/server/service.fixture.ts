import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { systemRandom, systemTime, type Time } from "@flyte-ts/async";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import {
  DesiredState,
  type TaskEvent,
  TaskEventSchema,
  type TaskRequest,
  TaskRequestSchema,
} from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type RunningPlugin, runPlugin } from "@flyte-ts/task-plugin";
import { MemoryBus, MemoryStore } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { vi } from "vitest";
import { webApiConfig } from "../../config.js";
import { createControllers } from "../../create-controllers.js";
import { jobRecords } from "../../frame/job/job-record.js";
import { webApiPlugin } from "../../plugin.js";
import { routesOf } from "../../routes.js";

const TERMINAL = [Phase.SUCCEEDED, Phase.FAILED, Phase.ABORTED];

/** The service with the settings of a deployment, over a bus and a blob store in memory. */
export class ServiceProcess {
  readonly store = new MemoryStore();
  readonly bus = new MemoryBus();
  #running: RunningPlugin | undefined;

  constructor(
    private readonly settings: object,
    private readonly clock: Time = systemTime,
  ) {}

  async start(): Promise<this> {
    const { store, bus, clock } = this;
    const logger = createLogger({ service: "test", level: "silent" });
    const config = webApiConfig.parse(this.settings);
    const records = jobRecords(store);
    const controllers = await createControllers({ config, store, records, clock, random: systemRandom, logger, env: {} });
    this.#running = await runPlugin({ plugin: webApiPlugin({ routes: routesOf(config), controllers, records }), bus, logger, clock });
    return this;
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
  }

  /** Ends the process and starts another one, which knows only requests and the blob store. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  send(request: TaskRequest, desired = DesiredState.RUN): Promise<unknown> {
    const sent = { ...request, desired, requestedAt: timestampFromMs(this.clock.now()) };
    return this.bus.send(taskRequestSubject(request.template?.type ?? "", request.shard), toBinary(TaskRequestSchema, sent));
  }

  eventsOf({ generatedName }: TaskRequest): TaskEvent[] {
    return this.bus.events.filter(({ event }) => event?.metadata?.generatedName === generatedName);
  }

  reasonsOf(request: TaskRequest): string {
    return this.eventsOf(request)
      .map(({ event }) => event?.reason)
      .join("\n");
  }

  /** Decodes the newest event alone: those of arrays are large. */
  lastEvent(): TaskEvent | undefined {
    const data = this.bus.published.at(-1)?.data;
    return data && fromBinary(TaskEventSchema, data);
  }

  /** Waits until the newest event has one of these phases. */
  until(...phases: readonly Phase[]): Promise<TaskEvent> {
    return vi.waitFor(
      () => {
        const last = this.lastEvent();
        if (last === undefined || !phases.includes(last.event?.phase ?? 0))
          throw new Error(`the newest event: ${JSON.stringify(last?.event?.reason)}`);
        return last;
      },
      { timeout: 100_000, interval: 20 },
    );
  }

  end(): Promise<TaskEvent> {
    return this.until(...TERMINAL);
  }

  /** Waits for the terminal events of attempts. */
  endsOf(requests: readonly TaskRequest[]): Promise<readonly TaskEvent[]> {
    return vi.waitFor(
      () => {
        const newest = new Map(this.bus.events.map((event) => [event.event?.metadata?.generatedName, event]));
        const ends = requests.flatMap(({ generatedName }) => newest.get(generatedName) ?? []);
        const ended = ends.filter(({ event }) => TERMINAL.includes(event?.phase ?? 0)).length;
        if (ended < requests.length) throw new Error(`${ended} of ${requests.length} attempts have ended`);
        return ends;
      },
      { timeout: 100_000, interval: 100 },
    );
  }
}

/** The newest phase with the code and kind of a failure. */
export function outcome({ event, failure }: TaskEvent): string {
  const phase = Phase[event?.phase ?? 0] ?? "";
  if (event?.outputResult.case !== "error") return phase;
  const { code, kind, message } = event.outputResult.value;
  return `${phase}: ${failure?.recoverable ? "retryable" : "permanent"} ${["UNKNOWN", "USER", "SYSTEM"][kind]} ${code}: ${message}`;
}
