import { z } from "zod";
import { parseTarget } from "./target.js";

const perCallMs = (defaultMs: number) => z.int().min(1).max(86_400_000).default(defaultMs);

const timeouts = z
  .strictObject({
    /** Timeout of CreateTask, ms. */
    createTaskMs: perCallMs(10_000),
    /** Timeout of GetTask, ms. */
    getTaskMs: perCallMs(10_000),
    /** Timeout of DeleteTask, ms. */
    deleteTaskMs: perCallMs(10_000),
    /** Timeout of GetTaskLogs, ms: the longest delay of an end by its log. */
    getTaskLogsMs: perCallMs(10_000),
    /** Timeout of GetTaskMetrics, ms: the longest delay of an end by its metrics. */
    getTaskMetricsMs: perCallMs(10_000),
    /** Timeout of ExecuteTaskSync, ms: the longest run of a task of a synchronous connector. */
    executeTaskSyncMs: perCallMs(60_000),
    /** Timeout of ListAgents, ms. */
    listAgentsMs: perCallMs(10_000),
  })
  .prefault({});

const limits = z
  .strictObject({
    /** Maximum number of calls a second. */
    callsPerSecond: z.number().positive().default(50),
    /** Number of calls that may exceed `callsPerSecond` after a quiet time. */
    burst: z.int().min(1).default(50),
    /** Maximum number of concurrent calls. */
    concurrentCalls: z.int().min(1).default(32),
    /** Maximum number of tasks in progress; further ones wait. Absent: no limit. */
    tasks: z.int().min(1).optional(),
    /** Maximum number of tasks in progress per project. Absent: no limit. */
    tasksPerProject: z.int().min(1).optional(),
  })
  .prefault({});

const tls = z
  .strictObject({
    /** PEM file of roots to trust; absent: the roots of the system. */
    rootsFile: z.string().optional(),
    /** PEM file of the certificate to present. */
    certificateFile: z.string().optional(),
    /** PEM file of the key of that certificate. */
    privateKeyFile: z.string().optional(),
    /** Name to find in the connector's certificate; absent: the host of the address. */
    serverName: z.string().optional(),
  })
  .refine((files) => (files.certificateFile === undefined) === (files.privateKeyFile === undefined), {
    error: "certificateFile and privateKeyFile belong together",
  });

/** One address at which connectors answer. */
export const endpointConfig = z.strictObject({
  /** Name in logs, metrics, reasons and `connectorForTaskTypes`. */
  name: z.string().regex(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/, "a name has lower-case letters, digits and dashes"),
  /**
   * `host:port`, `http://host:port`, `dns:///host:port`, or `k8s://service.namespace:port` in
   * plaintext; `https://host:port` over TLS.
   */
  address: z.string().refine((text) => parseTarget(text) !== undefined, {
    error: "an address is host:port, http://host:port, https://host:port, dns:///host:port or k8s://service.namespace:port",
  }),
  /** TLS with own certificates; absent: as the address says. */
  tls: tls.optional(),
  /** Metadata of each call. */
  headers: z.record(z.string(), z.string()).default({}),
  /** Metadata of each call → file that has its value and is read before each call. */
  headerFiles: z.record(z.string(), z.string()).default({}),
  /** File of a token that each call carries as `authorization: Bearer …`; read before each call. */
  tokenFile: z.string().optional(),
  /** Largest response to accept, bytes. */
  maxResponseBytes: z
    .int()
    .min(1)
    .default(64 * 1024 * 1024),
  timeouts,
  limits,
  /** Task types that this endpoint may serve; absent: all that it announces. */
  taskTypes: z.array(z.string().min(1)).optional(),
  /** Announced task types that this endpoint may not serve. */
  excludedTaskTypes: z.array(z.string().min(1)).default([]),
  /**
   * Task types whose creation is idempotent: the connector returns the same job for the same
   * attempt. A CreateTask with an unknown result is repeated only for these types.
   */
  idempotentTaskTypes: z.array(z.string().min(1)).default([]),
});

export type EndpointConfig = z.infer<typeof endpointConfig>;
