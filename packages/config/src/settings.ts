import { isWebOrigin } from "@flyte-ts/http-policy";
import { z } from "zod";

// Settings that several services have, each written once: a name that means the same is the same everywhere.

/** A TCP port; 0 takes any free one. */
export const port = z.number().int().min(0).max(65_535);

export const logLevel = z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info");

const hostPattern = z
  .string()
  .regex(
    /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/i,
    "a host name without scheme and port, as flyte.example.com, *.example.com for all below it, or * for any",
  );

/** By which names an HTTP listener is asked, and which web pages may call it: the rules are those of packages/http-policy. */
export const httpPolicySettings = {
  /**
   * Names by which clients ask, besides loopback and, beyond it, addresses; `*` for any. Absent: the names that nobody can
   * register in the public DNS, where the listener is bound beyond loopback.
   */
  allowedHosts: z.array(hostPattern).optional(),
  /** Origins of web pages, besides its own, that may call and read answers, as `https://console.example.com`. */
  allowedOrigins: z
    .array(z.string().refine(isWebOrigin, "an origin is http:// or https:// and a host, as https://console.example.com, without a path"))
    .default([]),
} as const;

/** Where health and metrics are served. */
export const opsSettings = (defaultPort: number) =>
  z
    .strictObject({
      host: z.string().default("127.0.0.1"),
      port: port.default(defaultPort),
      allowedHosts: httpPolicySettings.allowedHosts,
    })
    .prefault({});

/** The message bus. */
export const natsSettings = z.strictObject({ url: z.string().default("nats://127.0.0.1:4222") }).prefault({});

/** A database of the service's own; where it makes it, at start when the server has none of this name. */
export const databaseSettings = ({ name, maxConnections }: { readonly name: string; readonly maxConnections: number }) =>
  z
    .strictObject({
      url: z.string().default(`postgresql://postgres@127.0.0.1:5432/${name}`),
      maxConnections: z.number().int().positive().default(maxConnections),
      /** Folder of the numbered SQL files; by default the one beside the program. */
      migrations: z.string().optional(),
    })
    .prefault({});

const httpAddress = z.url({ protocol: /^https?$/, error: "an address is a URL: http://host:port or https://host" });

const s3Fields = {
  /** Address of the service; absent: AWS itself. */
  endpoint: z.string().optional(),
  /** Absent: AWS_REGION of the environment, else us-east-1. */
  region: z.string().optional(),
  /** Absent: the credentials of the environment. */
  accessKeyId: z.string().optional(),
  secretAccessKey: z.string().optional(),
} as const;

/** Credentials are those of the environment. */
const gcsFields = {
  /** Address of the service; absent: Google's own. */
  endpoint: httpAddress.optional(),
  /** Requests carry no credentials: for emulators. */
  anonymous: z.boolean().default(false),
} as const;

const azureFields = {
  /** Name of the storage account; absent: that of the environment. */
  account: z.string().optional(),
  /** Absent: the environment's, else the identity of the pod (Microsoft Entra). */
  accountKey: z.string().optional(),
  /** Address of the account's blob service; absent: `https://ACCOUNT.blob.core.windows.net`. */
  endpoint: httpAddress.optional(),
} as const;

const maxConnections = {
  /** Requests at once; more wait. */
  maxConnections: z.number().int().positive().default(64),
} as const;

/** How blob stores are reached. Each is used only where an address names it: `s3://`, `gs://`, `abfs://`. */
export const blobStoreSettings = {
  s3: z.strictObject({ ...s3Fields, ...maxConnections }).prefault({}),
  gcs: z.strictObject({ ...gcsFields, ...maxConnections }).prefault({}),
  azure: z.strictObject({ ...azureFields, ...maxConnections }).prefault({}),
} as const;

const publicEndpoint = {
  /** Address that clients outside reach; signed URLs carry it. */
  publicEndpoint: z.string().optional(),
} as const;

/** The same for a service that also signs addresses for others. */
export const signingBlobStoreSettings = {
  s3: blobStoreSettings.s3.unwrap().extend(publicEndpoint).prefault({}),
  gcs: blobStoreSettings.gcs
    .unwrap()
    .extend({
      ...publicEndpoint,
      /** What stands before the account's name in requests to IAM, which signs where credentials have no key; absent: Google's own. */
      signingEndpoint: httpAddress.optional(),
    })
    .prefault({}),
  azure: blobStoreSettings.azure.unwrap().extend(publicEndpoint).prefault({}),
} as const;

/** Spans, over OTLP/HTTP. */
export const tracingSettings = z
  .strictObject({
    /** Base address of the receiver, as `http://collector:4318`; absent: no traces. */
    endpoint: z.string().optional(),
    headers: z.record(z.string(), z.string()).default({}),
  })
  .prefault({});

/** What a service that answers calls does when it is told to end. */
export const drainSettings = z
  .strictObject({
    /** For so long it says that it is not ready and answers on, ms: balancers hear of it before it refuses. */
    delayMs: z.number().int().min(0).default(0),
    /** Calls that are under way may take so long, ms; then they are broken off. */
    deadlineMs: z.number().int().min(0).default(10_000),
  })
  .prefault({});

export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);
