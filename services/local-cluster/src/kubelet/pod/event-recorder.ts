import { BoundedMap } from "@flyte-ts/async";
import { at, type JsonObject, type KubeObject, microTimestamp, timestamp } from "../../object/model.js";
import type { PodSource } from "./pod-source.js";

export interface PodEvent {
  readonly type: "Normal" | "Warning";
  readonly reason: string;
  readonly message: string;
  /** `spec.containers{name}` */
  readonly fieldPath?: string;
}

/** Maximum number of recent events whose repetitions are counted on one object. */
const MAX_KNOWN_EVENTS = 2048;

/** Records events of pods in the formats of kubelet and scheduler. */
export class EventRecorder {
  readonly #pods: PodSource;
  readonly #node: string;
  readonly #known = new BoundedMap<string, KubeObject>(MAX_KNOWN_EVENTS);
  #lastName = 0n;

  constructor(pods: PodSource, node: string) {
    this.#pods = pods;
    this.#node = node;
  }

  /** Records an event of kubelet; increments the count of an equal one. */
  record(pod: KubeObject, note: PodEvent): void {
    const { uid = "" } = pod.metadata;
    const key = [uid, note.reason, note.message, note.fieldPath].join("\n");
    const now = timestamp(this.#pods.now());
    const known = this.#known.get(key);
    const event: KubeObject =
      known === undefined
        ? {
            ...this.#base(pod, note),
            count: 1,
            eventTime: null,
            firstTimestamp: now,
            lastTimestamp: now,
            reportingComponent: "kubelet",
            reportingInstance: this.#node,
            source: { component: "kubelet", host: this.#node },
          }
        : { ...known, count: Number(at(known, "count") ?? 1) + 1, lastTimestamp: now };
    this.#known.set(key, event);
    this.#pods.writeEvent(event);
  }

  /** Records an event of the scheduler. */
  recordScheduling(pod: KubeObject, note: PodEvent & { readonly action: string }): void {
    const { action, ...rest } = note;
    this.#pods.writeEvent({
      ...this.#base(pod, rest),
      action,
      eventTime: microTimestamp(this.#pods.now()),
      firstTimestamp: null,
      lastTimestamp: null,
      reportingComponent: "default-scheduler",
      reportingInstance: `default-scheduler-${this.#node}`,
      source: {},
    });
  }

  #base(pod: KubeObject, { type, reason, message, fieldPath }: PodEvent): KubeObject {
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
        uid: this.#pods.newUid(),
        creationTimestamp: timestamp(this.#pods.now()),
      },
      involvedObject,
      message,
      reason,
      type,
    };
  }

  /** Returns increasing nanoseconds, the suffix of event names in Kubernetes. */
  #nextSuffix(): string {
    const now = BigInt(this.#pods.now()) * 1_000_000n;
    this.#lastName = now > this.#lastName ? now : this.#lastName + 1n;
    return this.#lastName.toString(16);
  }
}
