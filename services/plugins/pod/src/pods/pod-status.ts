import { BoundedMap, type Time } from "@flyte-ts/async";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, type EndedStatus, NotYet, type TaskStatus } from "@flyte-ts/task-plugin";
import type { PodConfig } from "../build/build-pod.js";
import { inputsFailed } from "../build/copilot.js";
import type { DataStore } from "../end/data-store.js";
import { type AttemptEnd, type EndLimits, readEnd, readFailure } from "../end/read-end.js";
import { forStore, mayBeForStore, WatchedStore } from "../end/store-outages.js";
import type { Pod } from "../kube/pod-types.js";
import type { LogArchive } from "../logs/log-archive.js";
import { type LogLink, logLinks } from "../logs/log-links.js";
import { decide } from "../phase/decide.js";
import type { Decision, GracePeriods } from "../phase/decision.js";

export interface PodStatusParts {
  readonly store: DataStore;
  readonly clock: Time;
  readonly graces: GracePeriods;
  readonly limits: EndLimits;
  readonly logLinks: readonly LogLink[];
  readonly config: PodConfig;
  readonly archive: Pick<LogArchive, "keep">;
}

export interface PodView {
  /** Undefined: submitted, and nothing else is known. */
  readonly status: TaskStatus | undefined;
  /** Time of the next check even without a change. */
  readonly recheckAt?: Date | undefined;
}

/** Plugin state: a pod of the attempt was created. */
export const SUBMITTED = new Uint8Array([1]);

// Each may hold outputs of some KiB.
const KEPT_ENDS = 2_000;

/** Derives the status of an attempt from its pod and, once that has ended, from its output files. Reads an end once. */
export class PodStatusReader {
  readonly #ends = new BoundedMap<string, { readonly uid: string | undefined; readonly status: EndedStatus }>(KEPT_ENDS);

  readonly #store: WatchedStore;

  constructor(private readonly parts: PodStatusParts) {
    this.#store = new WatchedStore(parts.store, parts.clock);
  }

  /** @throws NotYet when the end cannot be read now. */
  async read(pod: Pod, request: TaskRequest): Promise<PodView> {
    const { clock, logLinks: links } = this.parts;
    const key = attemptKey(request);
    const ended = this.#ends.get(key);
    if (ended !== undefined && ended.uid === pod.metadata.uid) return { status: ended.status };
    const now = new Date(clock.now());
    const decision = this.decide(pod);
    if (decision.kind === "waiting") return { status: undefined };
    const logs = logLinks(links, { pod, request, now });
    const whilePending = logs.filter(({ ShowWhilePending }) => ShowWhilePending);
    if (decision.kind === "progress") {
      const { phase, reason, occurredAt, recheckAt } = decision;
      const shown = phase === "RUNNING" ? logs : whilePending;
      const times = { ...(reason === undefined ? {} : { reason }), ...(occurredAt === undefined ? {} : { occurredAt }) };
      return { status: { phase, logs: shown, pluginState: SUBMITTED, ...times }, recheckAt };
    }
    // A pod that never ran has no log to link to.
    const shown = pod.status?.phase === "Pending" ? whilePending : logs;
    const status: EndedStatus = {
      ...(await this.#end(decision, pod, request)),
      logs: [...shown, ...this.parts.archive.keep(pod, request)],
      pluginState: SUBMITTED,
      occurredAt: decision.occurredAt,
    };
    this.#ends.set(key, { uid: pod.metadata.uid, status });
    return { status };
  }

  decide(pod: Pod): Decision {
    return decide(pod, { graces: this.parts.graces, now: new Date(this.parts.clock.now()) });
  }

  /** True when the end of this very pod was read. */
  hasRead(key: string, pod: Pod): boolean {
    return this.#ends.get(key)?.uid === pod.metadata.uid;
  }

  forget(key: string): void {
    this.#ends.delete(key);
  }

  async #end(decision: Decision & { kind: "succeeded" | "failed" }, pod: Pod, request: TaskRequest): Promise<EndedStatus> {
    const { limits, config } = this.parts;
    const store = this.#store;
    if (decision.kind === "failed") {
      const told = inputsFailed(pod, config.copilot) ? await readable(() => readFailure(store, request, limits)) : undefined;
      return { phase: "FAILED", failure: await this.#blamed(told ?? decision.failure, pod, request) };
    }
    const { failure, ...end } = await readable<AttemptEnd>(() => readEnd(store, request, limits));
    if (failure === undefined) return { phase: "SUCCEEDED", ...end };
    return { phase: "FAILED", failure, ...(end.deckUri === undefined ? {} : { deckUri: end.deckUri }) };
  }

  /**
   * Counts the failure as the system's when the store was unavailable during the attempt. While it is unavailable the
   * end is not reported: the next attempt would fail as well.
   */
  async #blamed(failure: Failure, pod: Pod, request: TaskRequest): Promise<Failure> {
    if (!mayBeForStore(pod, failure)) return failure;
    await readable(() => this.#store.head(`${request.outputPrefix}/error.pb`));
    const { creationTimestamp } = pod.metadata;
    return creationTimestamp !== undefined && this.#store.wasAwaySince(new Date(creationTimestamp)) ? forStore(failure) : failure;
  }
}

type Failure = (Decision & { kind: "failed" })["failure"];

/** @throws NotYet when the store does not answer. */
async function readable<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    const message = `outputs cannot be read yet: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new NotYet(message, { status: { phase: "RUNNING", reason: message, pluginState: SUBMITTED }, cause });
  }
}
