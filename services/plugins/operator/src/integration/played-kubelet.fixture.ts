import { retry, Semaphore } from "@flyte-ts/async";
import { createInformer, isConflict, isTransient, type KubeClient, PODS } from "@flyte-ts/kubernetes";
import { OPERATOR_JOB_LABEL, type Pod } from "@flyte-ts/pod-task";
import type { Logger } from "@flyte-ts/telemetry";
import type { PodStatus } from "./pod-status.fixture.js";

/** Chooses the status of a pod; undefined leaves it as it is. */
export type Play = (pod: Pod) => PodStatus | undefined;

/** Calls at a time; more would time out at a busy API server. */
const CONCURRENCY = 16;
/** A pod that is gone by now needs no status. */
const CALL_RETRY = { initialMs: 200, maxMs: 5_000, jitter: 0.5, isRetryable: (error: unknown) => isTransient(error) || isConflict(error) };

export interface PlayedKubelet {
  /** Plays the pods of a job from now on, those that exist and those to come. */
  play(job: string, play: Play): void;
  stop(): Promise<void>;
}

/**
 * Writes the status of pods in place of a scheduler and kubelets. No container runs, and the API
 * server removes a deleted pod at once, for it is on no node.
 */
export function startPlayedKubelet(client: KubeClient, logger: Logger): PlayedKubelet {
  const plays = new Map<string, Play>();
  const played = new Map<string, Play>();
  const stopping = new AbortController();
  const calls = new Semaphore(CONCURRENCY);
  const call = (act: () => Promise<unknown>) => retry(() => calls.run(act), { ...CALL_RETRY, signal: stopping.signal });
  const apply = async (pod: Pod) => {
    const { name, namespace, uid = "", labels = {} } = pod.metadata;
    const play = plays.get(labels[OPERATOR_JOB_LABEL] ?? "");
    const status = play?.(pod);
    if (play === undefined || status === undefined) return;
    // A late effect of an earlier write is undone.
    if (played.get(uid) === play && pod.status?.phase === status.phase) return;
    played.set(uid, play);
    const write = async () => {
      // A later play has replaced this one.
      if (played.get(uid) !== play) return;
      await client.mergePatch(PODS, { namespace, name, body: { status }, subresource: "status" });
    };
    await call(write).catch(() => played.delete(uid));
  };
  const informer = createInformer<Pod>({
    client,
    ref: PODS,
    labelSelector: OPERATOR_JOB_LABEL,
    logger,
    onEvent: ({ type, object }) => void (type === "deleted" ? undefined : apply(object)),
  });
  return {
    play: (job, play) => {
      plays.set(job, play);
      for (const pod of informer.list()) if (pod.metadata.labels?.[OPERATOR_JOB_LABEL] === job) void apply(pod);
    },
    stop: () => {
      stopping.abort();
      return informer.stop();
    },
  };
}
