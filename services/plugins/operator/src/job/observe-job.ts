import { type GracePeriods, joinReasons, type Pod } from "@flyte-ts/pod-task";
import type { WarningOf } from "@flyte-ts/pod-task/warnings";
import { RetryableFailure } from "@flyte-ts/task-plugin";
import type { Job, JobState, Operator } from "../operator.js";
import { explainFailure } from "./explain-failure.js";
import { type PendingPods, summarizePending } from "./pending-pods.js";
import { silenceReason } from "./silence.js";

/** A job with the pods below it. */
export interface ObservedJob {
  readonly operator: Operator;
  readonly job: Job;
  readonly pods: readonly Pod[];
  /** Failed pods that the operator has deleted, in the order of the failures. Default: none. */
  readonly replaced?: readonly Pod[];
}

export interface ObserveOptions {
  readonly gracePeriods: GracePeriods;
  /** Time after which a job without a status is shown as ignored by its operator, ms. */
  readonly operatorTimeoutMs: number;
  readonly now: Date;
  readonly warningOf?: WarningOf | undefined;
}

export interface JobObservation {
  readonly state: JobState;
  /** True: the job failed, or is being deleted, while its operator still works on it. */
  readonly premature: boolean;
  /**
   * Time at which the state may change without a new observation, such as the end of a grace
   * period.
   */
  readonly recheckAt?: Date | undefined;
}

/**
 * Derives the state of a job from its resource and its pods. Pure. Operators do not see why a pod
 * cannot start, so pending pods add reasons, and a pod that can never start fails the job.
 */
export function observeJob({ operator, job, pods, replaced = [] }: ObservedJob, options: ObserveOptions): JobObservation {
  const state = operator.status(job, pods);
  if (state.kind === "failed")
    return { state: { ...state, failure: explainFailure(state.failure, { operator, pods, replaced }) }, premature: false };
  if (state.kind === "succeeded") return { state, premature: false };
  if (job.metadata.deletionTimestamp !== undefined) return { state: { kind: "failed", failure: deletedByOthers(job) }, premature: true };
  const pending = summarizePending(pods, options);
  if (pending.failure !== undefined) return { state: { kind: "failed", failure: pending.failure }, premature: true };
  const silence = state.unobserved ? silenceReason(operator, job, options) : undefined;
  const phase = furthest(state.phase, pending);
  const warning = phase === "RUNNING" ? undefined : options.warningOf?.(job.metadata.uid);
  const reason = joinReasons(silence?.reason ?? pending.reason ?? state.reason, warning);
  return {
    state: { kind: "progress", phase, ...(reason === undefined ? {} : { reason }) },
    premature: false,
    recheckAt: earliest(pending.recheckAt, silence?.recheckAt),
  };
}

function deletedByOthers({ metadata: { namespace = "", name } }: Job): RetryableFailure {
  const message = `object [${namespace}/${name}] terminated in the background, manually`;
  return new RetryableFailure({ code: "UnexpectedObjectDeletion", kind: "SYSTEM", message });
}

/** A queued job whose pods are being prepared is initializing. */
function furthest(phase: "QUEUED" | "INITIALIZING" | "RUNNING", pending: PendingPods): "QUEUED" | "INITIALIZING" | "RUNNING" {
  return phase === "QUEUED" && pending.initializing ? "INITIALIZING" : phase;
}

function earliest(a: Date | undefined, b: Date | undefined): Date | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a < b ? a : b;
}
