import { BoundedMap, TokenBucket } from "@flyte-ts/async";
import { EVENTS, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { API_VERSION, KIND } from "@flyte-ts/workflow-crd";
import { boundMessage } from "../../engine/errors/bound-message.js";
import type { KubeEvent } from "../../engine/types.js";

export interface KubeEventsOptions {
  readonly client: Pick<KubeClient, "create" | "mergePatch">;
  /** Reporting instance in the events. */
  readonly instance: string;
  readonly now: () => number;
  /** `uid` of a workflow's resource; undefined when unknown, then nothing is recorded. */
  readonly uidOf: (key: string) => string | undefined;
  /** Resolves after the given ms. */
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly onDropped: (why: DropReason) => void;
  readonly onError: (error: unknown) => void;
  /** Rate limit over all workflows, events per second. */
  readonly perSecond: number;
  /**
   * Burst above the rate limit; these events are queued, since other requests to the API server
   * have priority.
   */
  readonly burst: number;
}

export type DropReason = "workflowRate" | "rate" | "queue" | "failed";

/**
 * Burst of one workflow, then one event every five minutes: the limits of Kubernetes' own
 * recorders.
 */
const WORKFLOW_BURST = 25;
const WORKFLOW_INTERVAL_MS = 300_000;
/** Different messages of one reason recorded separately; later ones share one event. */
const MAX_SIMILAR = 10;
/** Maximum message length: the API accepts 1,024 bytes. */
const MAX_MESSAGE_LENGTH = 1_000;
const MAX_QUEUE = 1_000;
/**
 * Ratio of the pause after a write to the write's duration: a busy server has priority for other
 * work.
 */
const PAUSE_FACTOR = 10;
const MAX_BACKOFF_MS = 1_000;
/** Maximum of workflows whose events are tracked. */
const MAX_TRACKED_WORKFLOWS = 5_000;

interface WorkflowEventState {
  readonly bucket: TokenBucket;
  /** Recorded events, by reason and message. */
  readonly known: Map<string, { readonly name: string; count: number; readonly first: string }>;
  readonly alike: Map<string, number>;
}

/**
 * Records Kubernetes events on FlyteWorkflows, which `kubectl describe` shows. Counts equal events
 * on one object, combines similar ones and drops those above the rate limit. Recording never delays
 * or fails a reconcile.
 */
export class KubeEvents {
  readonly #workflows = new BoundedMap<string, WorkflowEventState>(MAX_TRACKED_WORKFLOWS);
  readonly #all: TokenBucket;
  readonly #queue: (() => Promise<unknown>)[] = [];
  #running = false;
  #lastName = 0;

  constructor(private readonly options: KubeEventsOptions) {
    this.#all = new TokenBucket({ burst: options.burst, intervalMs: 1_000 / options.perSecond });
  }

  record(key: string, { type, reason, message }: KubeEvent): void {
    const { uidOf, now, onDropped } = this.options;
    const uid = uidOf(key);
    if (uid === undefined) return;
    const at = now();
    const notes = this.#stateOf(key);
    if (!notes.bucket.take(at)) return onDropped("workflowRate");
    if (!this.#all.take(at)) return onDropped("rate");
    const seen = (notes.alike.get(reason) ?? 0) + 1;
    notes.alike.set(reason, seen);
    const many = seen > MAX_SIMILAR;
    const bounded = boundMessage(many ? `(combined from similar events) ${message}` : message, MAX_MESSAGE_LENGTH);
    // Combined events have the newest message.
    const name = many ? reason : `${reason}\n${bounded}`;
    const known = notes.known.get(name);
    const time = new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
    if (known === undefined) {
      const event = this.#event(key, { uid, type, reason, message: bounded, time });
      notes.known.set(name, { name: event.metadata.name, count: 1, first: time });
      this.#enqueue(() => this.options.client.create(EVENTS, event));
      return;
    }
    known.count++;
    const body = { count: known.count, lastTimestamp: time, message: bounded };
    this.#enqueue(() => this.options.client.mergePatch(EVENTS, { namespace: namespaceOf(key), name: known.name, body }));
  }

  #stateOf(key: string): WorkflowEventState {
    const found = this.#workflows.get(key);
    if (found !== undefined) return found;
    const bucket = new TokenBucket({ burst: WORKFLOW_BURST, intervalMs: WORKFLOW_INTERVAL_MS });
    const made = { bucket, known: new Map(), alike: new Map() };
    this.#workflows.set(key, made);
    return made;
  }

  #event(key: string, facts: KubeEvent & { readonly uid: string; readonly time: string }): KubeObject {
    const { uid, type, reason, message, time } = facts;
    const namespace = namespaceOf(key);
    const name = key.slice(namespace.length + 1);
    // Suffix of Kubernetes event names: the time in nanoseconds, unique.
    this.#lastName = Math.max(this.#lastName + 1, this.options.now() * 1_000);
    const object: KubeObject & Record<string, unknown> = {
      apiVersion: "v1",
      kind: "Event",
      metadata: { name: `${name}.${(BigInt(this.#lastName) * 1_000n).toString(16)}`, namespace },
      involvedObject: { apiVersion: API_VERSION, kind: KIND, name, namespace, uid },
      type,
      reason,
      message,
      count: 1,
      firstTimestamp: time,
      lastTimestamp: time,
      source: { component: "flytepropeller" },
      reportingComponent: "flytepropeller",
      reportingInstance: this.options.instance,
    };
    return object;
  }

  #enqueue(write: () => Promise<unknown>): void {
    if (this.#queue.length >= MAX_QUEUE) return this.options.onDropped("queue");
    this.#queue.push(write);
    if (!this.#running) void this.#work();
  }

  async #work(): Promise<void> {
    const { perSecond, sleep, now } = this.options;
    this.#running = true;
    for (let write = this.#queue.shift(); write !== undefined; write = this.#queue.shift()) {
      const from = now();
      try {
        await write();
      } catch (error) {
        this.options.onDropped("failed");
        this.options.onError(error);
      }
      if (this.#queue.length > 0) await sleep(Math.max(1_000 / perSecond, Math.min(PAUSE_FACTOR * (now() - from), MAX_BACKOFF_MS)));
    }
    this.#running = false;
  }
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
