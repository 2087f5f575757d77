import { isWebOrigin } from "@flyte-ts/http-policy";
import { z } from "zod";

// Settings that several services share, each defined once: the same name means the same everywhere.

/** A TCP port; 0 takes any free one. */
export const port = z.number().int().min(0).max(65_535);

export const logLevel = z
  .enum(["trace", "debug", "info", "warn", "error", "silent"])
  .default("info")
  .describe("Minimum level of log lines.");

const hostPattern = z
  .string()
  .regex(
    /^(?:\*|(?:\*\.)?[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)$/i,
    "a host name without scheme and port, as flyte.example.com, *.example.com for all below it, or * for any",
  );

/**
 * Host names that an HTTP listener accepts, and web pages that may call it: the rules are those of
 * packages/http-policy.
 */
export const httpPolicySettings = {
  /**
   * Accepted host names of requests; `*` accepts any. Loopback hosts are always accepted. A
   * listener bound beyond loopback also accepts IP addresses and, when this setting is absent,
   * names that cannot be registered in the public DNS.
   */
  allowedHosts: z.array(hostPattern).optional(),
  /**
   * Origins of web pages, besides its own, that may call and read answers, such as
   * `https://console.example.com`.
   */
  allowedOrigins: z
    .array(z.string().refine(isWebOrigin, "an origin is http:// or https:// and a host, as https://console.example.com, without a path"))
    .default([]),
} as const;

/** Address of the listener for health and metrics. */
export const opsSettings = (defaultPort: number) =>
  z
    .strictObject({
      /** Address of the listener for health and metrics. */
      host: z.string().default("127.0.0.1"),
      /** Port of that listener; 0 selects a free one. */
      port: port.default(defaultPort),
      allowedHosts: httpPolicySettings.allowedHosts,
    })
    .prefault({});

/**
 * Leader election among the replicas of one data plane: one serves, the others are standbys.
 *
 * @param defaultGroup name of the group, unless it is configured
 */
export const leaderElectionSettings = (defaultGroup: string) =>
  z
    .strictObject({
      /** False: this is the only replica. */
      enabled: z.boolean().default(false),
      /** Namespace of the Leases; it must exist. */
      namespace: z.string().default("flyte"),
      /** Name of the group of replicas. */
      group: z.string().default(defaultGroup),
      /** Time without renewal after which the leader is replaced. */
      leaseMs: z.int().min(1_000).default(10_000),
    })
    .prefault({});

/** URL of the bus with user and password; the servers of a cluster are separated by commas. */
const natsUrl = z.string().default("nats://127.0.0.1:4222");

/** The message bus. */
export const natsSettings = z
  .strictObject({
    /** URL of the bus with user and password; the servers of a cluster are separated by commas. */
    url: natsUrl,
  })
  .prefault({});

/** The message bus, of a service that creates its streams. */
export const natsStreamSettings = z
  .strictObject({
    /** URL of the bus with user and password; the servers of a cluster are separated by commas. */
    url: natsUrl,
    /**
     * Number of servers that hold a copy of each stream: 1, or 3 or 5 of a JetStream cluster, which
     * then survives the loss of one or two. The same for all services.
     */
    streamReplicas: z.int().min(1).max(5).default(1),
  })
  .prefault({});

/** A database of the service's own, which it creates at start unless it exists. */
export const databaseSettings = ({ name, maxConnections }: { readonly name: string; readonly maxConnections: number }) =>
  z
    .strictObject({
      /** URL of the database with user and password. */
      url: z.string().default(`postgresql://postgres@127.0.0.1:5432/${name}`),
      /** Maximum number of connections to the database. */
      maxConnections: z.number().int().positive().default(maxConnections),
      /** Folder of the numbered SQL files; default: the one beside the program. */
      migrations: z.string().optional(),
    })
    .prefault({});

const httpUrl = z.url({ protocol: /^https?$/, error: "an address is a URL: http://host:port or https://host" });

const s3Fields = {
  /** Address of the service; absent: AWS itself. */
  endpoint: z.string().optional(),
  /** Absent: AWS_REGION of the environment, else us-east-1. */
  region: z.string().optional(),
  /** Absent: the credentials of the environment. */
  accessKeyId: z.string().optional(),
  /** Secret of that access key. */
  secretAccessKey: z.string().optional(),
} as const;

/** Credentials are those of the environment. */
const gcsFields = {
  /** Address of the service; absent: Google's own. */
  endpoint: httpUrl.optional(),
  /** Send requests without credentials, for emulators. */
  anonymous: z.boolean().default(false),
} as const;

const azureFields = {
  /** Name of the storage account; absent: that of the environment. */
  account: z.string().optional(),
  /** Absent: the environment's, else the identity of the pod (Microsoft Entra). */
  accountKey: z.string().optional(),
  /** Address of the account's blob service; absent: `https://ACCOUNT.blob.core.windows.net`. */
  endpoint: httpUrl.optional(),
} as const;

const maxConnections = {
  /** Maximum number of concurrent requests; further ones are queued. */
  maxConnections: z.number().int().positive().default(64),
} as const;

/**
 * Access to blob stores. Each is used only for addresses that name it: `s3://`, `gs://`, `abfs://`.
 */
export const blobStoreSettings = {
  s3: z.strictObject({ ...s3Fields, ...maxConnections }).prefault({}),
  gcs: z.strictObject({ ...gcsFields, ...maxConnections }).prefault({}),
  azure: z.strictObject({ ...azureFields, ...maxConnections }).prefault({}),
} as const;

const publicEndpoint = {
  /** Address that external clients reach, used in signed URLs. */
  publicEndpoint: z.string().optional(),
} as const;

/** Blob store settings of a service that also signs URLs for clients. */
export const presigningBlobStoreSettings = {
  s3: blobStoreSettings.s3.unwrap().extend(publicEndpoint).prefault({}),
  gcs: blobStoreSettings.gcs
    .unwrap()
    .extend({
      ...publicEndpoint,
      /**
       * Base address of IAM's signing requests, before the account's name; used where credentials
       * have no key; absent: Google's own.
       */
      signingEndpoint: httpUrl.optional(),
    })
    .prefault({}),
  azure: blobStoreSettings.azure.unwrap().extend(publicEndpoint).prefault({}),
} as const;

/** Export of spans over OTLP/HTTP. */
export const tracingSettings = z
  .strictObject({
    /** Base address of the receiver, such as `http://collector:4318`; absent: no traces. */
    endpoint: z.string().optional(),
    /** Headers of each request, such as credentials of the receiver. */
    headers: z.record(z.string(), z.string()).default({}),
  })
  .prefault({});

/** Shutdown of a service that answers calls. */
export const drainSettings = z
  .strictObject({
    /**
     * Time to keep serving while reporting not ready, ms, so that load balancers can remove the
     * replica first.
     */
    delayMs: z.number().int().min(0).default(0),
    /** Time for calls in progress to end, ms; then they are aborted. */
    deadlineMs: z.number().int().min(0).default(10_000),
  })
  .prefault({});

/**
 * True for a listening address that other machines cannot reach. Stricter than `isLoopbackHost` of
 * packages/http-policy, which is for names in requests: a name below `localhost` is bound to
 * whatever address the resolver has for it.
 */
export const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || /^127(\.\d+){3}$/.test(host);

/** Limits of the files that an attempt leaves. */
export const resultLimitSettings = z
  .strictObject({
    /** Maximum size of outputs.pb or error.pb, bytes. */
    maxOutputBytes: z
      .int()
      .min(1)
      .default(10 * 1024 * 1024),
    /** Maximum size of outputs passed by value, bytes. */
    inlineBytes: z
      .int()
      .min(0)
      .default(8 * 1024),
  })
  .prefault({});
