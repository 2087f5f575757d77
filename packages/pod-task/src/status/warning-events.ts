import { BoundedMap, type Time } from "@flyte-ts/async";
import { createInformer, EVENTS, type Informer, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";

/** The object that an event is about. */
export interface InvolvedObject {
  readonly kind?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

interface EventObject extends KubeObject {
  readonly involvedObject?: InvolvedObject;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

export interface WarningEventsDeps {
  readonly client: Pick<KubeClient, "list" | "watch">;
  readonly logger: Logger;
  readonly clock: Pick<Time, "elapsed" | "sleep">;
  /** Kind whose warnings are followed; absent: all kinds. */
  readonly kind?: string;
  /** Called when the warning of an object has changed. */
  readonly onWarning: (object: InvolvedObject) => void;
}

/** Returns the latest warning of Kubernetes about the object of this uid. */
export type WarningOf = (uid: string | undefined) => string | undefined;

/** Warnings whose text stands in the pod's status as well. */
const IN_POD_STATUS = new Set(["FailedScheduling", "BackOff", "Failed"]);
/** Number of objects whose warning is kept. */
const MAX_OBJECTS = 10_000;
/**
 * Silence after which the watch counts as dead, ms. The API server ends it after 240 s and sends no
 * bookmarks before: it has no watch cache for events.
 */
const IDLE_TIMEOUT_MS = 250_000;
/** Longer messages are truncated; Kubernetes allows 1,024 characters. */
const MAX_MESSAGE_LENGTH = 500;

/**
 * Follows Kubernetes' warnings by one watch. They contain reasons that no status contains: a volume
 * that cannot be mounted, a sandbox that cannot be created, a quota that refuses the pods of a job.
 */
export class WarningEvents {
  readonly #informer: Informer<EventObject>;
  readonly #warnings = new BoundedMap<string, { readonly text: string; readonly at: string }>(MAX_OBJECTS);

  constructor(private readonly deps: WarningEventsDeps) {
    const { client, logger, clock: time, kind } = deps;
    this.#informer = createInformer<EventObject>({
      client,
      ref: EVENTS,
      fieldSelector: kind === undefined ? "type=Warning" : `type=Warning,involvedObject.kind=${kind}`,
      logger,
      time,
      transform: trimEvent,
      idleTimeoutMs: IDLE_TIMEOUT_MS,
      onEvent: ({ type, object }) => {
        if (type !== "deleted") this.#onEvent(object);
      },
    });
  }

  /** Returns the latest warning about the object of this uid, as `reason: message`. */
  of(uid: string | undefined): string | undefined {
    return uid === undefined ? undefined : this.#warnings.get(uid)?.text;
  }

  stop(): Promise<void> {
    return this.#informer.stop();
  }

  #onEvent(event: Readonly<EventObject>): void {
    const { involvedObject: { kind, uid } = {}, involvedObject = {}, reason = "", message = "" } = event;
    if (uid === undefined || (kind === "Pod" && IN_POD_STATUS.has(reason))) return;
    const known = this.#warnings.get(uid);
    const at = timeOf(event);
    if (known !== undefined && at < known.at) return;
    const text = message === "" ? reason : `${reason}: ${message}`;
    this.#warnings.set(uid, { text, at });
    if (text !== known?.text) this.deps.onWarning(involvedObject);
  }
}

/** RFC 3339 in UTC, so that later times compare greater to the second. */
function timeOf({ lastTimestamp, eventTime, metadata }: Readonly<EventObject>): string {
  return lastTimestamp ?? eventTime ?? metadata.creationTimestamp ?? "";
}

function trimEvent({ metadata, involvedObject, reason, message, lastTimestamp, eventTime }: EventObject): EventObject {
  const { name, namespace, resourceVersion, creationTimestamp } = metadata;
  const { kind, namespace: objectNamespace, name: objectName, uid } = involvedObject ?? {};
  return {
    metadata: { name, namespace, resourceVersion, creationTimestamp },
    involvedObject: { kind, namespace: objectNamespace, name: objectName, uid },
    reason,
    message: message?.slice(0, MAX_MESSAGE_LENGTH),
    lastTimestamp,
    eventTime,
  } as EventObject;
}
