import {
  blobStoreSettings,
  checkKubernetesSettings,
  kubernetesSettings,
  leaderElectionSettings,
  logLevel,
  natsSettings,
  opsSettings,
  resultLimitSettings,
} from "@flyte-ts/config";
import {
  gracePeriodSettings,
  logArchiveSettings,
  logLinkSettings,
  onePodSettings,
  podSettings,
  podTemplateSettings,
  warningEventSettings,
} from "@flyte-ts/pod-task/settings";
import { z } from "zod";
import { manifest } from "./manifest.js";
import { warmPodSettings } from "./warm/settings.js";

const minutes = (count: number) => count * 60_000;

export const podServiceConfig = z.strictObject({
  nats: natsSettings,
  /** Leader election among the replicas of one data plane: one serves, the others are standbys. */
  lead: leaderElectionSettings(manifest.id),
  kubernetes: z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings).prefault({}),
  storage: z.strictObject(blobStoreSettings).prefault({}),
  /**
   * Task types that run as pods; flytekit creates all of them. Unlike Go Flyte, this service takes
   * no unknown types: a type whose plugin is missing would fail for obscure reasons.
   */
  taskTypes: z
    .array(z.string().min(1))
    .min(1)
    .default([...manifest.taskTypes]),
  /** Spark, Ray and Dask tasks without an operator. */
  onePod: onePodSettings,
  pods: podSettings.prefault({}),
  /** Time, ms, for which a pod may wait with the given reason before its attempt fails. */
  graces: gracePeriodSettings,
  limits: resultLimitSettings,
  /** Links to logs; none by default, since the stack has no page of logs. */
  logLinks: logLinkSettings,
  /** Copies of the logs of ended pods, in the blob store beside the attempt's outputs. */
  logArchive: logArchiveSettings,
  /** Pods that are started ahead of their attempts. */
  warmPods: warmPodSettings,
  ...podTemplateSettings,
  ...warningEventSettings,
  /** Grace period of the pod of an aborted attempt, seconds. */
  stopSeconds: z.int().min(0).default(1),
  /** Maximum wait for the deletion of a pod before an abort is retried, ms. */
  stopTimeoutMs: z.int().min(0).default(20_000),
  /** Number of pods that are reconciled concurrently. */
  workers: z.int().min(1).default(32),
  /**
   * Maximum age of a pod's end at the start of the process, ms; older ends are reported only on
   * request.
   */
  tellEndsOfMs: z.int().min(0).default(minutes(60)),
  /** Maximum of unacknowledged requests per task type. */
  maxInFlight: z.int().min(1).default(256),
  /**
   * Name of the data plane in admin's `clusters`, the same as propeller's; empty for a single one.
   */
  cluster: z.string().default(""),
  /** Name of the data plane in events. Default: `cluster`, or `propeller` where that is empty. */
  producerId: z.string().optional(),
  logLevel,
  ops: opsSettings(manifest.opsPort),
});

export type PodServiceConfig = z.infer<typeof podServiceConfig>;

/** Returns the settings of the pod controller under the names that it uses. */
export function controllerSettings(config: PodServiceConfig) {
  const { limits, logLinks, onePod, defaultPodTemplate, templateNamespace, workers } = config;
  return {
    gracePeriods: config.graces,
    limits,
    logLinks,
    onePod,
    defaultPodTemplate,
    templateNamespace,
    workers,
    terminationGraceSeconds: config.stopSeconds,
    deletionTimeoutMs: config.stopTimeoutMs,
    reportEndedWithinMs: config.tellEndsOfMs,
    warningEvents: config.warningEvents,
  };
}
