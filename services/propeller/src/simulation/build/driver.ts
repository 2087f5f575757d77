import { NodeExecution_Phase, TaskExecution_Phase, WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { DesiredState, type TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { applyMergePatch, type ParsedWorkflow, type WorkflowStatus } from "@flyte-ts/workflow-crd";
import { encodeSlice } from "@flyte-ts/workflow-crd/slices";
import { defaultEngineConfig, type EngineConfig } from "../../engine/config.js";
import type { Answer, QuestionKind, QuestionOf, ValueOf } from "../../engine/ask/question.js";
import { createRun } from "../../engine/run.js";
import type { Effect, Observation, WorkflowRun } from "../../engine/types.js";
import { RunIo, type StatusWrite } from "../../shell-core/run-io.js";
import type { SliceBlob } from "../../engine/status/status-slices.js";
import { withSlices } from "./slices.js";
import { answer, type AnswerDetails } from "./answer.js";
import { buildWorkflow, type WorkflowSpec } from "./workflow.js";

export interface SentTask {
  readonly request: TaskRequest;
  /** `path/attempt DESIRED`. */
  readonly text: string;
}

/** Drives a run manually: writes are durable at once unless held back; requests and events are collected for checks. */
export class Driver {
  now = Date.parse("2026-11-21T10:00:00.250Z");
  readonly sent: SentTask[] = [];
  /** `node PHASE` or `workflow PHASE`, in order. */
  readonly told: string[] = [];
  readonly events: Extract<Effect, { kind: "publish" }>[] = [];
  readonly reads: string[] = [];
  readonly writes: string[] = [];
  readonly asks: Extract<Effect, { kind: "ask" }>[] = [];
  readonly #io: RunIo;
  readonly run: WorkflowRun;
  resource: { metadata: Record<string, unknown>; status: WorkflowStatus };
  /** Status slices written and still referenced. */
  blobs: ReadonlyMap<string, Uint8Array> = new Map();
  slicesWritten = 0;
  /** Writes wait for `flush`. */
  slowWrites = false;
  /** Started nodes' effects are sent at once, so more may start. */
  hasRoom = true;
  finished = false;

  constructor(
    readonly workflow: ParsedWorkflow,
    config: Partial<EngineConfig> = {},
    testing?: { readonly fullWalks: boolean },
  ) {
    const full: EngineConfig = { ...defaultEngineConfig(() => 0.5), ...config };
    this.run = createRun({ workflow, config: full, now: this.now, ...(testing === undefined ? {} : { testing }) });
    this.#io = new RunIo(this.run, workflow, this.now);
    this.resource = { metadata: { finalizers: [...workflow.finalizers], labels: {} }, status: structuredClone(workflow.status) };
  }

  static of(spec: WorkflowSpec, config: Partial<EngineConfig> = {}): Driver {
    const driver = new Driver(buildWorkflow(spec), config);
    driver.observe({ kind: "load", isNew: true });
    return driver;
  }

  observe(observation: Observation): void {
    this.#perform(this.#io.admit(this.run.observe(observation, this.now)));
    if (!this.slowWrites) this.flush();
    if (this.run.wantsRoom && this.hasRoom) this.observe({ kind: "room" });
  }

  flush(): void {
    for (let write = this.#nextWrite(); write !== undefined; write = this.#nextWrite()) {
      const { blobs = [], unused = [], sweep, ...patch } = write.patch;
      this.#keepBlobs(blobs, unused);
      this.resource = applyMergePatch(this.resource as never, JSON.parse(JSON.stringify(patch)) as never) as never;
      if (sweep !== undefined) this.blobs = new Map([...this.blobs].filter(([uri]) => sweep.keep.includes(uri)));
      const { revision, released } = this.#io.written({ resourceVersion: "2" }, this.now);
      this.#perform(released);
      this.#perform(this.#io.admit(this.run.observe({ kind: "persisted", revision }, this.now)));
    }
  }

  /** No write is delayed, so that its contents can be checked at once. */
  #nextWrite(): StatusWrite | undefined {
    return this.#io.nextWrite(Number.POSITIVE_INFINITY);
  }

  /** Advances the time and fires due timers. */
  advance(ms: number): void {
    const end = this.now + ms;
    for (let next = this.run.wakeAt; next !== undefined && next <= end; next = this.run.wakeAt) {
      this.now = Math.max(this.now, next);
      this.observe({ kind: "timer" });
    }
    this.now = end;
  }

  /** Answers the last request for a node. */
  reply(path: string, phase: keyof typeof TaskExecution_Phase, details: AnswerDetails = {}): void {
    this.observe({ kind: "taskEvent", event: answer(this.request(path), phase, { now: this.now, details }) });
  }

  request(path: string): TaskRequest {
    const found = this.sent.findLast(({ request }) => request.nodePath === path)?.request;
    if (found === undefined) throw new Error(`nothing was sent for ${path}; sent: ${this.takeSentTexts().join(", ")}`);
    return found;
  }

  /** Calls of a kind since the last check for it; their arguments identify the node. */
  asked<K extends QuestionKind>(kind: K): QuestionOf<K>[] {
    const seen = this.#answered.get(kind) ?? 0;
    const all = this.asks.filter(({ ask }) => ask.kind === kind);
    this.#answered.set(kind, all.length);
    return all.slice(seen).map(({ ask }) => ask as unknown as QuestionOf<K>);
  }
  readonly #answered = new Map<QuestionKind, number>();

  /** Completes the last call of a kind. */
  answer<K extends QuestionKind>(kind: K, answer: Answer<ValueOf<K>>): void {
    const last = this.asks.findLast(({ ask }) => ask.kind === kind);
    if (last === undefined) throw new Error(`nobody asked ${kind}`);
    this.observe({ kind: "answered", id: last.id, answer });
  }

  /** Requests sent since the last call. */
  takeSent(): string[] {
    const texts = this.sent.slice(this.#seen).map(({ text }) => text);
    this.#seen = this.sent.length;
    return texts;
  }
  #seen = 0;

  takeSentTexts(): string[] {
    return this.sent.map(({ text }) => text);
  }

  takeTold(): string[] {
    return this.told.splice(0);
  }

  /** The resource as another process would read it. */
  reread(config: Partial<EngineConfig> = {}, deletionRequested = false): Driver {
    const status = JSON.parse(JSON.stringify(this.resource.status)) as WorkflowStatus;
    const driver = new Driver({ ...this.workflow, ...withSlices(status, this.blobs), deletionRequested }, config);
    driver.now = this.now;
    driver.blobs = this.blobs;
    driver.resource = structuredClone(this.resource);
    return driver;
  }

  /** Status of the resource, including its slices. */
  get storedStatus(): WorkflowStatus {
    const { slices: _s, nodeCounts: _c, ...status } = withSlices(this.resource.status, this.blobs).status;
    return status;
  }

  #keepBlobs(written: readonly SliceBlob[], unused: readonly string[]): void {
    const blobs = new Map(this.blobs);
    for (const { uri, entries } of written) {
      if (blobs.has(uri)) throw new Error(`${uri} is written twice`);
      blobs.set(uri, encodeSlice(entries));
      this.slicesWritten++;
    }
    for (const uri of unused) blobs.delete(uri);
    this.blobs = blobs;
  }

  #perform(effects: readonly Effect[]): void {
    for (const effect of effects) {
      switch (effect.kind) {
        case "sendTask": {
          const { request } = effect;
          this.sent.push({ request, text: `${request.nodePath}/${request.id?.retryAttempt ?? 0} ${DesiredState[request.desired]}` });
          break;
        }
        case "publish":
          this.events.push(effect);
          this.told.push(textOf(effect));
          break;
        case "readOutputs":
        case "readLiteral":
          this.reads.push(effect.uri);
          break;
        case "writeOutputs":
          this.writes.push(effect.uri);
          break;
        case "finish":
          this.finished = true;
          break;
        case "ask":
          this.asks.push(effect);
          break;
        case "note":
        case "count":
          break;
      }
    }
  }
}

function textOf({ event }: Extract<Effect, { kind: "publish" }>): string {
  const inner = event.event;
  if (inner.case === "workflow") return `workflow ${WorkflowExecution_Phase[inner.value.phase]}`;
  if (inner.case === "node") return `${inner.value.id?.nodeId ?? ""} ${NodeExecution_Phase[inner.value.phase]}`;
  if (inner.case === "task")
    return `${inner.value.parentNodeExecutionId?.nodeId ?? ""}/${inner.value.retryAttempt} ${TaskExecution_Phase[inner.value.phase]}`;
  return inner.case === "notice" ? `notice ${inner.value.reason}` : "?";
}
