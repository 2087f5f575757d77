import { create, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { taskRequestSubject } from "@flyte-ts/bus-contract";
import { TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskEvent, type TaskRequest, TaskRequestSchema } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { type KubeObject, PODS } from "@flyte-ts/kubernetes";
import { objectName, OPERATOR_JOB_LABEL, type Pod } from "@flyte-ts/pod-task";
import { vi } from "vitest";
import { operatorServiceConfig } from "../config.js";
import type { Operator } from "../operator.js";
import { createOperators } from "../operators.js";
import { jobRequest } from "../simulation/sample-requests.js";
import type { Play } from "./played-kubelet.fixture.js";
import type { RayJobStatus } from "./ray/dashboard.fixture.js";
import { NAMESPACE, type TestCluster } from "./test-cluster.fixture.js";

/** Operators answer within a second; the machine may be busy. Submissions of Spark queue up. */
export const PATIENCE = { timeout: process.env["OPERATORS"] === "full" ? 1_200_000 : 100_000, interval: 50 };
/** Limit of a test, ms: it waits a few times. */
export const TEST_TIMEOUT_MS = 3 * PATIENCE.timeout;
const OPERATORS = createOperators(operatorServiceConfig.parse({ nats: { url: "" } }));

/** The bus and the blob store between a test and the plugin. */
export interface AttemptChannel {
  /** Task events so far, in order. */
  readonly events: readonly TaskEvent[];
  /** Folder of the attempts' files. */
  readonly dataUri: string;
  publish(subject: string, data: Uint8Array): Promise<void>;
  write(uri: string, bytes: Uint8Array): void;
}

export interface AttemptOptions {
  /** Last part of the name of its execution. */
  readonly name: string;
  /** Number of earlier attempts. Default: 0. */
  readonly retry?: number;
  /** `custom` of the task. Default: that of the sample. */
  readonly custom?: JsonObject;
}

/** An attempt that the test requests and follows. */
export class Attempt {
  readonly request: TaskRequest;
  readonly operator: Operator;

  constructor(
    private readonly cluster: TestCluster & AttemptChannel,
    taskType: string,
    { name, retry = 0, custom }: AttemptOptions,
  ) {
    const operator = OPERATORS.find((each) => each.taskType === taskType);
    if (operator === undefined) throw new Error(`no operator runs ${taskType}`);
    this.operator = operator;
    const id = `${taskType}-${name}`;
    const data = `${cluster.dataUri}/${id}`;
    const uris = { inputUri: `${data}/inputs.pb`, outputPrefix: `${data}/${retry}`, rawOutputPrefix: `${data}/raw` };
    this.request = jobRequest(taskType, custom, { generatedName: `${id}-n0-${retry}`, ...uris });
    const owner = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: cluster.ownerUid };
    if (this.request.owner !== undefined) Object.assign(this.request.owner, owner);
  }

  get name(): string {
    return objectName(this.request.generatedName, this.operator.maxNameLength);
  }

  async send(desired: DesiredState, over: Partial<TaskRequest> = {}): Promise<void> {
    const { request, cluster } = this;
    const message = create(TaskRequestSchema, { ...request, ...over, desired });
    await cluster.publish(taskRequestSubject(this.operator.taskType, request.shard), toBinary(TaskRequestSchema, message));
  }

  play(play: Play): void {
    this.cluster.kubelet.play(this.name, play);
  }

  /** Sets what Ray's dashboard reports of it; other operators do not ask. */
  report(status: RayJobStatus | undefined): void {
    this.cluster.dashboards.report(this.name, status);
  }

  writeFile(name: string, bytes: Uint8Array): void {
    this.cluster.write(`${this.request.outputPrefix}/${name}`, bytes);
  }

  get events(): TaskEvent[] {
    return this.cluster.events.filter(({ event }) => event?.metadata?.generatedName === this.request.generatedName);
  }

  /** Resolves to the first event of the phase. */
  until(phase: Phase): Promise<TaskEvent> {
    return this.untilEvent(`event in phase ${Phase[phase]}`, ({ event }) => event?.phase === phase);
  }

  /** Resolves to the first event that gives this reason. */
  untilReason(reason: string): Promise<TaskEvent> {
    return this.untilEvent(`event with the reason ${reason}`, ({ event }) =>
      [event?.reason, ...(event?.reasons.map((each) => each.reason) ?? [])].some((each) => each?.includes(reason)),
    );
  }

  untilEvent(title: string, matches: (event: TaskEvent) => boolean): Promise<TaskEvent> {
    return vi.waitFor(() => {
      const found = this.events.find(matches);
      if (found !== undefined) return found;
      const told = this.events.map(({ event }) => `${Phase[event?.phase ?? 0]} ${event?.reason}`);
      throw new Error(`no ${title}, but: ${told.join("; ")}`);
    }, PATIENCE);
  }

  /** Code and message of its failure. */
  async failure(): Promise<{ readonly code: string; readonly message: string; readonly kind: number }> {
    const { event } = await this.until(Phase.FAILED);
    if (event?.outputResult.case !== "error") throw new Error("a failure without an error");
    return event.outputResult.value;
  }

  exists(): Promise<KubeObject | undefined> {
    return this.cluster.client.get(this.operator.ref, { namespace: NAMESPACE, name: this.name });
  }

  async delete(): Promise<void> {
    await this.cluster.client.delete(this.operator.ref, { namespace: NAMESPACE, name: this.name });
  }

  /** Names of its resource and pods that still exist. Asks again while the API does not answer. */
  remaining(): Promise<string[]> {
    return vi.waitFor(async () => {
      const pods = await this.#pods();
      const job = await this.exists();
      return [...(job === undefined ? [] : [job]), ...pods].map(({ metadata }) => metadata.name);
    }, PATIENCE);
  }

  /** Resolves when no pod of it runs or may run. */
  async untilStopped(): Promise<void> {
    await vi.waitFor(async () => {
      const active = (await this.#pods()).filter(({ status }) => status?.phase !== "Succeeded" && status?.phase !== "Failed");
      if (active.length > 0) throw new Error(`still active: ${active.map(({ metadata }) => metadata.name).join(", ")}`);
    }, PATIENCE);
  }

  async untilGone(): Promise<void> {
    await vi.waitFor(async () => {
      const remaining = await this.remaining();
      if (remaining.length > 0) throw new Error(`still there: ${remaining.join(", ")}`);
    }, PATIENCE);
  }

  /** Finalizes it, and repeats the request until nothing is left, as a bus does. */
  async finalize(intervalMs = 1_000): Promise<void> {
    const act = async () => {
      await this.send(DesiredState.FINALIZE, { deleteResources: true });
      const remaining = await this.remaining();
      if (remaining.length > 0) throw new Error(`still there: ${remaining.join(", ")}`);
    };
    await vi.waitFor(act, { ...PATIENCE, interval: intervalMs });
  }

  async #pods(): Promise<readonly Pod[]> {
    const labelSelector = `${OPERATOR_JOB_LABEL}=${this.name}`;
    return (await this.cluster.client.list<Pod>(PODS, { namespace: NAMESPACE, labelSelector })).items;
  }
}

export { DesiredState, Phase };
