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
import { gracePeriodSettings, logLinkSettings, podSettings, podTemplateSettings, warningEventSettings } from "@flyte-ts/pod-task/settings";
import { z } from "zod";
import { manifest } from "./manifest.js";
import { createOperators, operatorSettings } from "./operators.js";

const minutes = (count: number) => count * 60_000;

export const operatorServiceConfig = z.strictObject({
  nats: natsSettings,
  /** Leader election among the replicas of one data plane: one serves, the others are standbys. */
  lead: leaderElectionSettings(manifest.id),
  kubernetes: z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings).prefault({}),
  storage: z.strictObject(blobStoreSettings).prefault({}),
  /**
   * Task types that this deployment runs by operators. A type is served while the cluster has the
   * resource of its operator.
   */
  taskTypes: z
    .array(z.enum(manifest.taskTypes as [string, ...string[]]))
    .min(1)
    .default([...manifest.taskTypes]),
  /** Time between two checks of which operators' resources the cluster has, ms. */
  discoveryIntervalMs: z.int().min(1_000).default(minutes(1)),
  /**
   * Time after which a new resource without a status is shown as ignored by its operator, ms (Go
   * Flyte's `kf-operator.timeout`).
   */
  operatorTimeoutMs: z.int().min(0).default(minutes(1)),
  ...operatorSettings,
  /** Additions to every pod that an operator creates for a task. */
  pods: podSettings.prefault({}),
  /** Time, ms, for which a pod may wait with the given reason before its attempt fails. */
  graces: gracePeriodSettings,
  limits: resultLimitSettings,
  /** Links to the logs of each pod; none by default. */
  logLinks: logLinkSettings,
  ...podTemplateSettings,
  ...warningEventSettings,
  /** Grace period of pods that an ended job leaves running, seconds. */
  stopSeconds: z.int().min(0).default(30),
  /** Maximum wait for the deletion of a job and its pods before an abort is retried, ms. */
  stopTimeoutMs: z.int().min(0).default(minutes(2)),
  /** Number of jobs that are reconciled concurrently. */
  workers: z.int().min(1).default(16),
  /**
   * Maximum age of a job's end at the start of the process, ms; older ends are reported only on
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

export type OperatorServiceConfig = z.infer<typeof operatorServiceConfig>;

/** Returns the settings of the job controller under the names that it uses. */
export function controllerSettings(config: OperatorServiceConfig) {
  const { limits, logLinks, defaultPodTemplate, templateNamespace, workers, discoveryIntervalMs, operatorTimeoutMs, taskTypes } = config;
  return {
    operators: createOperators(config).filter(({ taskType }) => taskTypes.includes(taskType)),
    gracePeriods: config.graces,
    limits,
    logLinks,
    defaultPodTemplate,
    templateNamespace,
    workers,
    discoveryIntervalMs,
    operatorTimeoutMs,
    terminationGraceSeconds: config.stopSeconds,
    deletionTimeoutMs: config.stopTimeoutMs,
    reportEndedWithinMs: config.tellEndsOfMs,
    warningEvents: config.warningEvents,
  };
}
