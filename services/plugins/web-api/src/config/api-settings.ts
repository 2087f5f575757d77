import { z } from "zod";
import { frameSettings } from "./frame-settings.js";

const httpUrl = z.url({ protocol: /^https?$/, error: "an address is a URL: http://host:port or https://host" });

const awsAccess = {
  /** Region of the service. Default: AWS_REGION of the environment, else us-east-1. */
  region: z.string().optional(),
  /** Address of the service; absent: AWS itself. Credentials are those of the environment. */
  endpoint: httpUrl.optional(),
};

export const batchSettings = z.strictObject({
  ...awsAccess,
  /** Time limit of tasks that state no timeout, seconds. */
  defaultTimeoutSeconds: z
    .int()
    .min(60)
    .default(3 * 24 * 3_600),
  /** Variables of every container. */
  defaultEnvVars: z.record(z.string(), z.string()).default({}),
  /** Maximum number of items of an array; AWS allows 10,000. */
  maxArraySize: z.int().min(1).max(10_000).default(5_000),
  /** Maximum length of the errors of an array's items together, characters. */
  maxErrorLength: z.int().min(100).default(500),
  /** Annotation of executions that names the IAM role of jobs, where the task names none. */
  roleAnnotationKey: z.string().default(""),
  /** IAM role with which Fargate pulls images and writes logs; Fargate needs it. */
  executionRoleArn: z.string().optional(),
  /** Give Fargate jobs a public address. */
  assignPublicIp: z.boolean().default(false),
  ...frameSettings({ readsPerSecond: 10, writesPerSecond: 15, burst: 20, initialMs: 3_000, maxMs: 30_000 }),
});

export const athenaSettings = z.strictObject({
  ...awsAccess,
  /** Workgroup of tasks that name none. */
  defaultWorkGroup: z.string().min(1).default("primary"),
  /** Data catalog of tasks that name none. */
  defaultCatalog: z.string().min(1).default("AwsDataCatalog"),
  ...frameSettings({ readsPerSecond: 10, writesPerSecond: 10, burst: 20, initialMs: 1_000, maxMs: 30_000 }),
});

export const bigQuerySettings = z.strictObject({
  /** Address of the service; absent: Google's own. Credentials are those of the environment. */
  endpoint: httpUrl.optional(),
  /** Send requests without credentials, for stand-ins of the service. */
  anonymous: z.boolean().default(false),
  ...frameSettings({ readsPerSecond: 50, writesPerSecond: 20, burst: 100, initialMs: 1_000, maxMs: 30_000 }),
});

export const hiveSettings = z.strictObject({
  /** Address of HiveServer2's HTTP transport, such as http://host:10001/cliservice. */
  endpoint: httpUrl,
  /** User that runs the queries. */
  user: z.string().min(1).default("flyte"),
  /** Password of the user; absent: HiveServer2 does not check passwords. */
  password: z.string().optional(),
  /** JSON web token, sent instead of a password. */
  accessToken: z.string().optional(),
  /** Scheme with which HiveServer2 reaches addresses that begin with `s3://`. */
  s3Scheme: z.enum(["s3", "s3a"]).default("s3a"),
  /** Configuration of every session, such as `hive.execution.engine`. */
  configuration: z.record(z.string(), z.string()).default({}),
  /** Configuration key that is set to the name of the attempt; empty: none. */
  tagKey: z.string().default(""),
  ...frameSettings({ readsPerSecond: 20, writesPerSecond: 10, burst: 40, initialMs: 500, maxMs: 10_000 }),
});

export const trinoSettings = z.strictObject({
  /** Address of the coordinator. */
  endpoint: httpUrl,
  /** User that runs the queries. */
  user: z.string().min(1).default("flyte"),
  /** Password of the user; absent: none is sent. */
  password: z.string().optional(),
  /** JSON web token, sent instead of a password. */
  accessToken: z.string().optional(),
  /** Catalog of tasks that name none. */
  defaultCatalog: z.string().min(1).default("hive"),
  /** Catalog of the tables in which results are written as Parquet; a Hive connector's. */
  resultCatalog: z.string().min(1).default("hive"),
  /** Schema of these tables; it must exist. */
  resultSchema: z.string().min(1).default("flyte_temporary_tables"),
  ...frameSettings({ readsPerSecond: 20, writesPerSecond: 10, burst: 40, initialMs: 500, maxMs: 10_000 }),
});

export type BatchConfig = z.infer<typeof batchSettings>;
export type AthenaConfig = z.infer<typeof athenaSettings>;
export type BigQueryConfig = z.infer<typeof bigQuerySettings>;
export type HiveConfig = z.infer<typeof hiveSettings>;
export type TrinoConfig = z.infer<typeof trinoSettings>;
