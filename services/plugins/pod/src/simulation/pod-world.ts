import { create, toBinary } from "@bufbuild/protobuf";
import type { ManualTime } from "@flyte-ts/async/manual-time";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, type Plugin } from "@flyte-ts/task-plugin";
import { type JobFault, MemoryStore, sampleRequest, type SimulatedEnvironment } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { controllerSettings, podServiceConfig } from "../config.js";
import { podPlugin } from "../plugin.js";
import { PodController, type PodControllerDeps } from "../pod-controller.js";
import type { WarmPool } from "../warm/pool.js";
import { SimulatedCluster } from "./simulated-cluster.js";

export const logger = createLogger({ service: "test", level: "silent" });
export const config = podServiceConfig.parse({ nats: { url: "" }, warningEvents: false });
const settings = { ...controllerSettings(config), config: config.pods };

export function podRequest(over: Partial<TaskRequest> = {}): TaskRequest {
  const request = sampleRequest("python-task", over);
  request.template = create(TaskTemplateSchema, {
    id: { name: "tasks.work" },
    type: "python-task",
    interface: create(TypedInterfaceSchema, { outputs: { variables: { o0: {} } } }),
    target: { case: "container", value: { image: "example/image:1", args: ["run", "{{.input}}"] } },
  });
  request.inputs = create(LiteralMapSchema, { literals: { a: { hash: "in" } } });
  return request;
}

/** Outputs that `complete` writes. */
export const outputs = toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o0: { hash: "out" } } }));

/** A simulated cluster whose pods the test completes, and the files of attempts. */
export class PodWorld implements SimulatedEnvironment {
  clock: ManualTime | undefined;
  readonly cluster = new SimulatedCluster(() => this.clock);
  readonly store = new MemoryStore();
  readonly archive = { archive: () => [], waitUntilArchived: () => Promise.resolve() };

  constructor(private readonly settings: Pick<PodControllerDeps, "creationSettlesWithinMs"> = {}) {}

  plugin(clock: ManualTime): Plugin {
    this.clock = clock;
    const deps = { ...settings, ...this.settings, client: this.cluster, store: this.store, clock, logger, archive: this.archive };
    return podPlugin(new PodController({ ...deps, warm: this.warmPool(clock) }), config);
  }

  /** Pods that are started ahead, for a new process. */
  protected warmPool(_clock: ManualTime): WarmPool | undefined {
    return undefined;
  }

  request = () => podRequest();

  invalidRequest(): TaskRequest {
    const request = podRequest();
    if (request.template !== undefined) request.template.target = { case: undefined };
    return request;
  }

  complete(request: TaskRequest): void {
    if (!this.isRunning(request)) return;
    this.store.blobs.set(`${request.outputPrefix}/outputs.pb`, outputs);
    const finishedAt = this.clock === undefined ? "" : new Date(this.clock.now()).toISOString();
    this.cluster.setPodStatus(attemptKey(request), "Succeeded", {
      state: { terminated: { exitCode: 0, reason: "Completed", finishedAt } },
    });
  }

  startCount(request: TaskRequest): number {
    return this.cluster.startCount(attemptKey(request));
  }

  inject(fault: JobFault): void {
    if (fault === "unavailable") this.cluster.unavailable = true;
    else this.cluster.faults.push(fault);
  }

  heal(): void {
    this.cluster.unavailable = false;
    this.cluster.faults.length = 0;
  }

  isRunning(request: TaskRequest): boolean {
    const phase = this.cluster.podOf(attemptKey(request))?.status?.phase;
    return phase === "Pending" || phase === "Running";
  }
}
