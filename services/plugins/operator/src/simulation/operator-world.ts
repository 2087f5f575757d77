import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import type { ManualTime } from "@flyte-ts/async/manual-time";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type ContainerState, objectName, OPERATOR_JOB_LABEL, type Pod, type PodCondition } from "@flyte-ts/pod-task";
import { type JobFault, MemoryStore, type SimulatedEnvironment } from "@flyte-ts/task-plugin/harness";
import { createLogger } from "@flyte-ts/telemetry";
import { controllerSettings, operatorServiceConfig } from "../config.js";
import { JobController, type JobControllerDeps } from "../controller/job-controller.js";
import type { Job, Operator } from "../operator.js";
import { createOperators } from "../operators.js";
import { operatorPlugin } from "../plugin.js";
import { jobRequest } from "./sample-requests.js";
import { SAMPLES } from "./samples.js";
import { SimulatedApi } from "./simulated-api.js";

const logLinks = [{ name: "Logs", uris: ["https://logs/{{ .podName }}"] }];
const config = operatorServiceConfig.parse({ nats: { url: "" }, logLinks, warningEvents: false });

export const OUTPUTS = toBinary(LiteralMapSchema, create(LiteralMapSchema, { literals: { o0: { hash: "out" } } }));

export interface PlayedPod {
  readonly phase: string;
  readonly state?: ContainerState;
  readonly conditions?: readonly PodCondition[];
  readonly labels?: Readonly<Record<string, string>>;
}

/** A simulated cluster in which the test acts as the operators, and the files of attempts. */
export class OperatorWorld implements SimulatedEnvironment {
  clock: ManualTime | undefined;
  readonly api = new SimulatedApi(() => this.clock);
  readonly store = new MemoryStore();
  readonly logger = createLogger({ service: "test", level: "silent" });
  readonly operator: Operator;
  controller: JobController | undefined;

  constructor(
    readonly taskType: string,
    private readonly settings: Pick<JobControllerDeps, "creationSettlesWithinMs"> = {},
  ) {
    const operator = createOperators(config).find((each) => each.taskType === taskType);
    if (operator === undefined) throw new Error(`no operator runs ${taskType}`);
    this.operator = operator;
  }

  plugin(clock: ManualTime) {
    this.clock = clock;
    this.controller = new JobController({
      ...controllerSettings(config),
      ...this.settings,
      config: config.pods,
      client: this.api,
      store: this.store,
      clock,
      logger: this.logger,
    });
    return operatorPlugin(this.controller);
  }

  request(): TaskRequest {
    return jobRequest(this.taskType);
  }

  invalidRequest(): TaskRequest {
    const request = this.request();
    if (request.template !== undefined) request.template.target = { case: undefined };
    return request;
  }

  complete(request: TaskRequest): void {
    if (this.job(request)?.status !== undefined) return;
    this.store.blobs.set(`${request.outputPrefix}/outputs.pb`, OUTPUTS);
    this.setStatus(request, SAMPLES[this.taskType]?.succeeded ?? {});
  }

  inject(fault: JobFault): void {
    if (fault === "unavailable") this.api.unavailable = true;
    else this.api.faults.push(fault);
  }

  heal(): void {
    this.api.unavailable = false;
    this.api.faults.length = 0;
  }

  startCount(request: TaskRequest): number {
    return this.api.startCount(this.keyOf(request));
  }

  isRunning(request: TaskRequest): boolean {
    const job = this.job(request);
    return job !== undefined && this.operator.status(job, []).kind === "progress";
  }

  /** Key of the attempt's resource in the simulated API. */
  keyOf(request = this.request()): string {
    return `${this.operator.ref.plural}/${request.namespace}/${this.nameOf(request)}`;
  }

  nameOf({ generatedName } = this.request()): string {
    return objectName(generatedName, this.operator.maxNameLength);
  }

  job(request = this.request()): Job | undefined {
    return this.api.at(this.keyOf(request)) as Job | undefined;
  }

  /** Writes the resource's status, as its operator does. */
  setStatus(request: TaskRequest, status: JsonObject): void {
    const job = this.job(request);
    if (job === undefined) throw new Error(`no resource ${this.keyOf(request)}`);
    this.api.put(this.operator.ref.plural, { ...job, status });
  }

  /** Adds a resource below that of the attempt, which owns one of its pods. */
  addPart(plural: string, name: string, podSuffix: string): void {
    const { namespace } = this.request();
    const kind = { apiVersion: this.operator.apiVersion, kind: plural };
    const own = {
      apiVersion: this.operator.apiVersion,
      kind: this.operator.kind,
      name: this.nameOf(),
      uid: this.job()?.metadata.uid ?? "",
    };
    const part = this.api.put<Job>(plural, { metadata: { name, namespace, ownerReferences: [own] } });
    const pod = this.api.at(`pods/${namespace}/${this.nameOf()}-${podSuffix}`);
    if (pod === undefined) throw new Error(`no pod ${podSuffix}`);
    const owner = { ...kind, name, uid: part.metadata.uid ?? "" };
    this.api.put("pods", { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } });
  }

  /** Adds a pod below the resource, or changes its status. */
  setPod(suffix: string, { phase, state = {}, conditions = [], labels = {} }: PlayedPod): Pod {
    const request = this.request();
    const name = `${this.nameOf()}-${suffix}`;
    const job = this.job();
    const known = this.api.at(`pods/${request.namespace}/${name}`) as Pod | undefined;
    const containers = [{ name: "main", image: "example/image:1" }];
    const status = { phase, conditions: [...conditions], containerStatuses: [{ name: "main", ready: false, state }] };
    if (known !== undefined) return this.api.put("pods", { ...known, status });
    const owner = { apiVersion: this.operator.apiVersion, kind: this.operator.kind, name: this.nameOf(), uid: job?.metadata.uid ?? "" };
    return this.api.put<Pod>("pods", {
      metadata: {
        name,
        namespace: request.namespace,
        labels: { ...request.labels, "node-id": "n0", [OPERATOR_JOB_LABEL]: this.nameOf(), ...labels },
        ownerReferences: [owner],
      },
      spec: { containers },
      status,
    });
  }
}
