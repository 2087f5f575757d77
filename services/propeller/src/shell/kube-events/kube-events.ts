import { EVENTS, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { API_VERSION, KIND } from "@flyte-ts/workflow-crd";
import { boundMessage } from "../../engine/failure/bound-message.js";
import type { Note } from "../../engine/types.js";
import { TokenBucket } from "./token-bucket.js";

export interface KubeEventsOptions {
  readonly client: Pick<KubeClient, "create" | "mergePatch">;
  /** Instance that reports, as events name it. */
  readonly instance: string;
  readonly now: () => number;
  /** `uid` of a workflow's resource; undefined when it is not known, and then nothing is noted. */
  readonly uidOf: (key: string) => string | undefined;
  /** Resolves after so many ms. */
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly onDropped: (why: DropReason) => void;
  readonly onError: (error: unknown) => void;
  /** Notes a second over all workflows. */
  readonly perSecond: number;
  /** So many more may come at once; they wait for their turn, for the API server has more urgent work then. */
  readonly burst: number;
}

export type DropReason = "workflowRate" | "rate" | "queue" | "failed";

/** Of one workflow: as many notes at once, then one every five minutes, as Kubernetes' own recorders have it. */
const WORKFLOW_BURST = 25;
const WORKFLOW_INTERVAL_MS = 300_000;
/** Different messages of one reason that are shown one by one; what follows goes into one. */
const ALIKE = 10;
/** Longest message: the API takes 1,024 bytes. */
const LONGEST = 1_000;
const QUEUE = 1_000;
/** The pause after a note is so many times as long as its writing took: a server that is busy has more urgent work. */
const RESTS = 10;
const LONGEST_PAUSE_MS = 1_000;
/** Workflows whose notes are remembered. */
const REMEMBERED = 5_000;

interface WorkflowNotes {
  readonly bucket: TokenBucket;
  /** What was noted, by reason and message. */
  readonly known: Map<string, { readonly name: string; count: number; readonly first: string }>;
  readonly alike: Map<string, number>;
}

/**
 * Notes on FlyteWorkflows as Kubernetes events, which `kubectl describe` shows. Equal
 * ones are counted on one object, many alike are put into one, and more than people
 * read are left out: notes never hold up a round and never fail one.
 */
export class KubeEvents {
  readonly #workflows = new Map<string, WorkflowNotes>();
  readonly #all: TokenBucket;
  readonly #queue: (() => Promise<unknown>)[] = [];
  #running = false;
  #lastName = 0;

  constructor(private readonly options: KubeEventsOptions) {
    this.#all = new TokenBucket(options.burst, 1_000 / options.perSecond, options.now());
  }

  record(key: string, { type, reason, message }: Note): void {
    const { uidOf, now, onDropped } = this.options;
    const uid = uidOf(key);
    if (uid === undefined) return;
    const at = now();
    const notes = this.#notesOf(key, at);
    if (!notes.bucket.take(at)) return onDropped("workflowRate");
    if (!this.#all.take(at)) return onDropped("rate");
    const seen = (notes.alike.get(reason) ?? 0) + 1;
    notes.alike.set(reason, seen);
    const many = seen > ALIKE;
    const said = boundMessage(many ? `(combined from similar events) ${message}` : message, LONGEST);
    // Of many alike the newest message stands for all.
    const name = many ? reason : `${reason}\n${said}`;
    const known = notes.known.get(name);
    const time = new Date(at).toISOString().replace(/\.\d+Z$/, "Z");
    if (known === undefined) {
      const event = this.#event(key, { uid, type, reason, message: said, time });
      notes.known.set(name, { name: event.metadata.name, count: 1, first: time });
      this.#enqueue(() => this.options.client.create(EVENTS, event));
      return;
    }
    known.count++;
    const body = { count: known.count, lastTimestamp: time, message: said };
    this.#enqueue(() => this.options.client.mergePatch(EVENTS, { namespace: namespaceOf(key), name: known.name, body }));
  }

  #notesOf(key: string, now: number): WorkflowNotes {
    const found = this.#workflows.get(key);
    if (found !== undefined) return found;
    const made = { bucket: new TokenBucket(WORKFLOW_BURST, WORKFLOW_INTERVAL_MS, now), known: new Map(), alike: new Map() };
    this.#workflows.set(key, made);
    for (const oldest of this.#workflows.keys()) {
      if (this.#workflows.size <= REMEMBERED) break;
      this.#workflows.delete(oldest);
    }
    return made;
  }

  #event(key: string, facts: Note & { readonly uid: string; readonly time: string }): KubeObject {
    const { uid, type, reason, message, time } = facts;
    const namespace = namespaceOf(key);
    const name = key.slice(namespace.length + 1);
    // Time in nanoseconds, as the names of Kubernetes' events end; never twice the same.
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
    if (this.#queue.length >= QUEUE) return this.options.onDropped("queue");
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
      if (this.#queue.length > 0) await sleep(Math.max(1_000 / perSecond, Math.min(RESTS * (now() - from), LONGEST_PAUSE_MS)));
    }
    this.#running = false;
  }
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf("/"));
}
