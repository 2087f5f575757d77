import { z } from "zod";

// Settings that several services have, each written once: a name that means the same is the same everywhere.

/** A TCP port; 0 takes any free one. */
export const port = z.number().int().min(0).max(65_535);

export const logLevel = z.enum(["trace", "debug", "info", "warn", "error", "silent"]).default("info");

/** Where health and metrics are served. */
export const opsSettings = (defaultPort: number) =>
  z.strictObject({ host: z.string().default("127.0.0.1"), port: port.default(defaultPort) }).prefault({});

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

/** How an S3 service is reached. */
export const s3Fields = {
  /** Address of the service; absent: AWS itself. */
  endpoint: z.string().optional(),
  region: z.string().default("us-east-1"),
  /** Absent: the credentials of the environment. */
  accessKeyId: z.string().optional(),
  secretAccessKey: z.string().optional(),
} as const;

export const s3Settings = z.strictObject(s3Fields).prefault({});

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
