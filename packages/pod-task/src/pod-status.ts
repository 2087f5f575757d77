import { create } from "@bufbuild/protobuf";
import { BoundedMap, type Time } from "@flyte-ts/async";
import { type LogContext, LogContextSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { attemptKey, type TaskStatus, type TerminalStatus } from "@flyte-ts/task-plugin";
import { PRIMARY_CONTAINER_KEY } from "./build/declared-pod.js";
import type { PodConfig } from "./build/pod-config.js";
import { downloadFailed } from "./copilot/copilot-container.js";
import type { DataStore } from "./result/data-store.js";
import type { ResultLimits } from "@flyte-ts/task-plugin/files";
import { readErrorDocument, readResult } from "./result/read-result.js";
import { readOrRetryLater, resultStatus } from "./result/result-status.js";
import { asSystemFailure, mayBeStoreOutage, OutageTrackingStore } from "./result/store-outages.js";
import type { Pod } from "./pod-types.js";
import type { LogArchive } from "./logs/log-archive.js";
import { type LogLink, logLinks } from "./logs/log-links.js";
import { derivePodState } from "./status/derive-pod-state.js";
import { type GracePeriods, joinReasons, type PodState } from "./status/pod-state.js";
import { lastContainerTransition } from "./status/pod-times.js";
import { takeOf } from "./warm/reused/attempt-end.js";
import { asAttemptPod, endedUnassigned, takenAt } from "./warm/taken-pod.js";
import type { WarningOf } from "./status/warning-events.js";

export interface PodStatusDeps {
  readonly store: DataStore;
  readonly clock: Time;
  readonly gracePeriods: GracePeriods;
  readonly limits: ResultLimits;
  readonly logLinks: readonly LogLink[];
  readonly config: PodConfig;
  readonly archive: Pick<LogArchive, "archive">;
  /** Absent: no warnings are known. */
  readonly warningOf?: WarningOf;
}

export interface PodObservation {
  /** Undefined: submitted, and nothing else is known. */
  readonly status: TaskStatus | undefined;
  /** Time of the next check even without a change. */
  readonly recheckAt?: Date | undefined;
}

/** Plugin state: a pod of the attempt was created. */
export const POD_CREATED_STATE = new Uint8Array([1]);

// Each may hold outputs of some KiB.
const MAX_CACHED_RESULTS = 2_000;

/**
 * Derives the status of an attempt from its pod and, once that has ended, from its output files.
 * Reads an end once.
 */
export class PodStatusReader {
  readonly #resultCache = new BoundedMap<string, { readonly uid: string | undefined; readonly status: TerminalStatus }>(MAX_CACHED_RESULTS);

  readonly #store: OutageTrackingStore;

  constructor(private readonly deps: PodStatusDeps) {
    this.#store = new OutageTrackingStore(deps.store, deps.clock);
  }

  /** @throws RetryLater when the end cannot be read now. */
  async read(observed: Pod, request: TaskRequest): Promise<PodObservation> {
    const pod = asAttemptPod(observed);
    const { clock, logLinks: configuredLinks } = this.deps;
    const key = attemptKey(request);
    const cached = this.#resultCache.get(key);
    if (cached !== undefined && cached.uid === pod.metadata.uid) return { status: cached.status };
    const now = new Date(clock.now());
    const state = this.podState(pod);
    if (state.kind === "waiting") return { status: undefined };
    const logs = logLinks(configuredLinks, { pod, request, now });
    const whilePending = logs.filter(({ ShowWhilePending }) => ShowWhilePending);
    if (state.kind === "progress") {
      const { phase, occurredAt, recheckAt } = state;
      const shown = phase === "RUNNING" ? logs : whilePending;
      const warning = phase === "RUNNING" ? undefined : this.deps.warningOf?.(pod.metadata.uid);
      const reason = joinReasons(state.reason, warning);
      const details = { ...(reason === undefined ? {} : { reason }), ...(occurredAt === undefined ? {} : { occurredAt }) };
      return { status: { phase, logs: shown, pluginState: POD_CREATED_STATE, ...podName(pod), ...details }, recheckAt };
    }
    // A pod that never ran has no log to link to.
    const shown = pod.status?.phase === "Pending" ? whilePending : logs;
    const status: TerminalStatus = {
      ...(await this.#terminalStatus(state, pod, request)),
      logs: [...shown, ...this.deps.archive.archive(pod, request)],
      pluginState: POD_CREATED_STATE,
      ...podName(pod),
      occurredAt: state.occurredAt,
      // The pod may serve another attempt once this end is stored.
      ...(takeOf(pod) === undefined ? {} : { cleanup: true }),
    };
    this.#resultCache.set(key, { uid: pod.metadata.uid, status });
    return { status };
  }

  podState(observed: Pod): PodState {
    const pod = asAttemptPod(observed);
    const unassigned = endedUnassigned(pod);
    if (unassigned !== undefined)
      return { kind: "failed", failure: unassigned, occurredAt: lastContainerTransition(pod) ?? new Date(this.deps.clock.now()) };
    return derivePodState(pod, { gracePeriods: this.deps.gracePeriods, now: new Date(this.deps.clock.now()) });
  }

  /** True when the end of this very pod was read. */
  hasResult(key: string, pod: Pod): boolean {
    return this.#resultCache.get(key)?.uid === pod.metadata.uid;
  }

  invalidate(key: string): void {
    this.#resultCache.delete(key);
  }

  async #terminalStatus(state: PodState & { kind: "succeeded" | "failed" }, pod: Pod, request: TaskRequest): Promise<TerminalStatus> {
    const { limits, config } = this.deps;
    const store = this.#store;
    if (state.kind === "failed") {
      const reported = downloadFailed(pod, config.copilot)
        ? await readOrRetryLater(() => readErrorDocument(store, request, limits), POD_CREATED_STATE)
        : undefined;
      return { phase: "FAILED", failure: await this.#attributeToStore(reported ?? state.failure, pod, request) };
    }
    return resultStatus(await readOrRetryLater(() => readResult(store, request, limits), POD_CREATED_STATE));
  }

  /**
   * Counts the failure as the system's when the store was unavailable during the attempt. While it
   * is unavailable the end is not reported: the next attempt would fail as well.
   */
  async #attributeToStore(failure: Failure, pod: Pod, request: TaskRequest): Promise<Failure> {
    if (!mayBeStoreOutage(pod, failure)) return failure;
    await readOrRetryLater(() => this.#store.head(`${request.outputPrefix}/error.pb`), POD_CREATED_STATE);
    const { creationTimestamp } = pod.metadata;
    return creationTimestamp !== undefined && this.#store.wasUnavailableSince(new Date(creationTimestamp))
      ? asSystemFailure(failure)
      : failure;
  }
}

/** Names the pod where its name does not follow from the attempt's. */
export function podName(pod: Pod): { readonly logContext?: LogContext } {
  if (takenAt(pod) === undefined) return {};
  const { name, namespace = "" } = pod.metadata;
  const containers = pod.spec.containers.map((container) => ({ containerName: container.name }));
  const primaryContainerName = pod.metadata.annotations?.[PRIMARY_CONTAINER_KEY] ?? "";
  return {
    logContext: create(LogContextSchema, { primaryPodName: name, pods: [{ namespace, podName: name, primaryContainerName, containers }] }),
  };
}

type Failure = (PodState & { kind: "failed" })["failure"];
