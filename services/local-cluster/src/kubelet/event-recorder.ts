import { at, type JsonObject, type KubeObject, microTimestamp, timestamp } from "../object/model.js";
import { STORAGE } from "../api/type/built-in-types.js";
import type { ApiContext } from "../api/context.js";

export interface Note {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** `spec.containers{name}` */
  readonly fieldPath?: string;
}

/** Repetitions of an event are counted on one object as long as it is among this many latest. */
const REMEMBERED = 2048;

/** Writes events about pods as kubelet and the scheduler write them. */
export class EventRecorder {
  readonly #context: ApiContext;
  readonly #node: string;
  readonly #known = new Map<string, string>();
  #lastName = 0n;

  constructor(context: ApiContext, node: string) {
    this.#context = context;
    this.#node = node;
  }

  /** An event of kubelet; an equal one that exists is counted up. */
  record(pod: KubeObject, note: Note): void {
    const { namespace = "", uid = "" } = pod.metadata;
    if (!this.#accepts(namespace)) return;
    const key = [uid, note.reason, note.message, note.fieldPath].join("\n");
    const now = timestamp(this.#context.now());
    const name = this.#known.get(key);
    const known = name === undefined ? undefined : this.#context.store.get({ resource: STORAGE.events, namespace, name })?.object;
    if (known !== undefined) {
      this.#context.store.put(STORAGE.events, { ...known, count: Number(at(known, "count") ?? 1) + 1, lastTimestamp: now });
      return;
    }
    const event = this.#base(pod, note);
    this.#remember(key, event.metadata.name);
    this.#context.store.put(STORAGE.events, {
      ...event,
      count: 1,
      eventTime: null,
      firstTimestamp: now,
      lastTimestamp: now,
      reportingComponent: "kubelet",
      reportingInstance: this.#node,
      source: { component: "kubelet", host: this.#node },
    });
  }

  /** An event of the scheduler. */
  recordScheduling(pod: KubeObject, note: Note & { readonly action: string }): void {
    const { namespace = "" } = pod.metadata;
    if (!this.#accepts(namespace)) return;
    const { action, ...rest } = note;
    this.#context.store.put(STORAGE.events, {
      ...this.#base(pod, rest),
      action,
      eventTime: microTimestamp(this.#context.now()),
      firstTimestamp: null,
      lastTimestamp: null,
      reportingComponent: "default-scheduler",
      reportingInstance: `default-scheduler-${this.#node}`,
      source: {},
    });
  }

  /** A namespace that is going takes no more. */
  #accepts(namespace: string): boolean {
    const found = this.#context.store.get({ resource: STORAGE.namespaces, namespace: "", name: namespace });
    return found !== undefined && found.object.metadata.deletionTimestamp === undefined;
  }

  #base(pod: KubeObject, { type, reason, message, fieldPath }: Note): KubeObject {
    const { name, namespace = "", uid, resourceVersion } = pod.metadata;
    const involvedObject: JsonObject = {
      apiVersion: "v1",
      ...(fieldPath === undefined ? {} : { fieldPath }),
      kind: "Pod",
      name,
      namespace,
      resourceVersion,
      uid,
    };
    return {
      apiVersion: "v1",
      kind: "Event",
      metadata: {
        name: `${name}.${this.#nextSuffix()}`,
        namespace,
        uid: this.#context.newUid(),
        creationTimestamp: timestamp(this.#context.now()),
      },
      involvedObject,
      message,
      reason,
      type,
    };
  }

  /** Time in nanoseconds, as the names of Kubernetes' events end; never twice the same, and in order. */
  #nextSuffix(): string {
    const now = BigInt(this.#context.now()) * 1_000_000n;
    this.#lastName = now > this.#lastName ? now : this.#lastName + 1n;
    return this.#lastName.toString(16);
  }

  #remember(key: string, name: string): void {
    this.#known.set(key, name);
    if (this.#known.size <= REMEMBERED) return;
    for (const oldest of this.#known.keys()) {
      this.#known.delete(oldest);
      break;
    }
  }
}
