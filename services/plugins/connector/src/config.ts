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
import { z } from "zod";
import { endpointConfig } from "./endpoint/endpoint-config.js";
import { manifest } from "./manifest.js";

const minutes = (count: number) => count * 60_000;

const polling = {
  /** Delay before the first GetTask after the creation, ms. */
  initialMs: z.int().min(50).default(500),
  /** Growth of the delay from one GetTask to the next. */
  growth: z.number().min(1).default(1.5),
  /** Maximum of the delay, ms. Once a task is a minute old, the delay is at least one second. */
  maxMs: z.int().min(50).default(10_000),
};

export const connectorConfig = z
  .strictObject({
    nats: natsSettings,
    /**
     * Leader election among the replicas of one data plane: one serves, the others are standbys.
     */
    lead: leaderElectionSettings(manifest.id),
    kubernetes: z.strictObject(kubernetesSettings).superRefine(checkKubernetesSettings).prefault({}),
    storage: z.strictObject(blobStoreSettings).prefault({}),
    /** Addresses of connectors. When two announce the same task type, the first serves it. */
    endpoints: z.array(endpointConfig).default([]),
    /**
     * Task type → name of the endpoint that serves it, whether or not the endpoint announces the
     * type. Takes precedence over other plugin services and announcements.
     */
    connectorForTaskTypes: z.record(z.string().min(1), z.string()).default({}),
    /** Announced task types that no connector may serve. */
    excludedTaskTypes: z.array(z.string().min(1)).default(["container", "python-task", "raw-container", "sidecar"]),
    discovery: z
      .strictObject({
        /**
         * Interval between two ListAgents of an endpoint, ms. One follows at once when a connection
         * is established.
         */
        pollIntervalMs: z.int().min(100).default(3_000),
        /**
         * Time after the start, ms, before announced task types are served; meanwhile heartbeats of
         * other plugin services arrive. Types of which the message bus shows that no other service
         * has received any are served after 2 s.
         */
        startDelayMs: z.int().min(0).default(25_000),
        /**
         * Time, ms, for which a task type belongs to another plugin service after the last
         * heartbeat that named it.
         */
        forgetOthersMs: z.int().min(1).default(minutes(60)),
      })
      .prefault({}),
    /** Intervals of GetTask. */
    polling: z.strictObject(polling).prefault({}),
    /** Task type → intervals of GetTask of its tasks. */
    pollingOfTaskTypes: z.record(z.string(), z.strictObject(polling)).default({}),
    failures: z
      .strictObject({
        /** Time for which a connector may be unreachable before an attempt fails, ms. */
        unavailableMs: z.int().min(0).default(minutes(30)),
        /** Number of consecutive errors of GetTask after which an attempt fails. */
        getTaskErrors: z.int().min(1).default(5),
      })
      .prefault({}),
    abort: z
      .strictObject({
        /** Interval of GetTask after DeleteTask, ms. */
        checkIntervalMs: z.int().min(50).default(1_000),
        /** Time after which a deleted task counts as aborted although GetTask reports it, ms. */
        timeoutMs: z.int().min(0).default(10_000),
      })
      .prefault({}),
    limits: resultLimitSettings,
    /** Logs of ended tasks, which connectors with GetTaskLogs give. */
    taskLogs: z
      .strictObject({
        /** Copy the log of an ended task beside its outputs and link it. */
        enabled: z.boolean().default(true),
        /** Maximum size of a copy, bytes; of a longer log the end is kept. */
        maxBytes: z
          .int()
          .min(1)
          .default(8 * 1024 * 1024),
      })
      .prefault({}),
    /** Metrics of ended tasks, which connectors with GetTaskMetrics give. */
    taskMetrics: z
      .strictObject({
        /** Show the metrics of an ended task in its custom info. */
        enabled: z.boolean().default(true),
        /** Task type → queries, in the language of its connector; absent: those that it chooses. */
        queriesOfTaskTypes: z.record(z.string().min(1), z.array(z.string())).default({}),
        /** Resolution of the metrics, ms. */
        stepMs: z.int().min(1).default(60_000),
      })
      .prefault({}),
    /** Maximum of unacknowledged requests per task type. */
    maxInFlight: z.int().min(1).default(1_000),
    /**
     * Name of the data plane in admin's `clusters`, the same as propeller's; empty for a single
     * one.
     */
    cluster: z.string().default(""),
    /** Name of the data plane in events. Default: `cluster`, or `propeller` where that is empty. */
    producerId: z.string().optional(),
    logLevel,
    ops: opsSettings(manifest.opsPort),
  })
  .superRefine(({ endpoints, connectorForTaskTypes }, context) => {
    const names = endpoints.map(({ name }) => name);
    const issue = (path: (string | number)[], message: string) => context.addIssue({ code: "custom", path, message });
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) !== index) issue(["endpoints", index, "name"], `another endpoint has the name ${name}`);
    }
    for (const [taskType, name] of Object.entries(connectorForTaskTypes)) {
      if (!names.includes(name)) issue(["connectorForTaskTypes", taskType], `no endpoint has the name ${name}`);
    }
  });

export type ConnectorServiceConfig = z.infer<typeof connectorConfig>;
