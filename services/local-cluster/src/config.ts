import { homedir } from "node:os";
import { join } from "node:path";
import { httpPolicySettings, logLevel, port } from "@flyte-ts/config";
import { z } from "zod";

const folder = join(homedir(), ".flyte-ts", "cluster");

/** Settings of the pods on this machine. */
export const podSettings = {
  /** Name of the one node that runs the pods. */
  nodeName: z.string().default("local"),
  /**
   * Resources that pods may request in total. Default: four CPUs per core, and twice the machine's
   * memory.
   */
  allocatable: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  /** Labels of the node. */
  nodeLabels: z.record(z.string(), z.string()).default({}),
  /** Environment variables of every container; those of the pod take precedence. */
  podEnv: z.record(z.string(), z.string()).default({}),
  /** Directories prepended to PATH in every container, such as the one of `pyflyte-execute`. */
  podPath: z.array(z.string()).default([]),
  /**
   * Simulated pulls of images: containers run as processes of this machine, and no image is pulled.
   */
  imagePolicy: z
    .strictObject({
      /** Patterns of images that cannot be pulled; `*` matches any text. */
      unreachable: z.array(z.string()).default(["*.invalid/*", "*no-such*", "*does-not-exist*", "*nonexistent*"]),
    })
    .prefault({}),
  /** `enforce` kills containers that exceed their memory limit (OOMKilled). */
  memoryLimits: z.enum(["enforce", "ignore"]).default("enforce"),
  /** Size at which a container's log is rotated, bytes; one older part is kept. */
  maxLogBytes: z
    .int()
    .positive()
    .default(64 << 20),
  /**
   * Fork server for flytekit's entry points: a Python process with preloaded modules that forks for
   * each container. Disabled, every container starts a new Python.
   */
  warmPython: z
    .strictObject({
      /** Use the fork server. */
      enabled: z.boolean().default(true),
      /** Start it with the service instead of for the first container. */
      ahead: z.boolean().default(false),
      /** Additional modules to preload, which tasks often import. Each uses memory. */
      modules: z.array(z.string()).default([]),
      /** Idle time after which it exits, ms. */
      idleMs: z.int().positive().default(180_000),
    })
    .prefault({}),
  /**
   * Spares for TypeScript tasks: Node.js processes that have loaded `flyte-ts-execute`, each of
   * which becomes one task. They start with the first such task. Disabled, every container starts a
   * new Node.js.
   */
  warmNode: z
    .strictObject({
      /** Use spares. */
      enabled: z.boolean().default(true),
      /** Maximum number of spares. */
      spares: z.int().positive().max(64).default(4),
      /** Idle time after which all spares exit, ms. */
      idleMs: z.int().positive().default(180_000),
    })
    .prefault({}),
  /** Running pods at shutdown: keep them, or kill them. */
  podsOnStop: z.enum(["keep", "kill"]).default("keep"),
};

/** A secret of URL-safe characters, too long to be guessed. */
const secret = z.string().regex(/^[A-Za-z0-9_-]{16,256}$/, "a token must have 16 to 256 letters, digits, `_` or `-`");

/** Configuration of `node dist/main.js --config FILE`. */
export const configSchema = z.strictObject({
  /** Address to listen on; other than loopback it requires `access: token`. */
  host: z.string().default("127.0.0.1"),
  /** 0 takes any free port; the kubeconfig contains it. */
  port: port.default(0),
  /**
   * Host name or address in the kubeconfig, by which clients reach this machine. Default: `host`.
   */
  advertisedHost: z.string().optional(),
  /**
   * Accepted host names of requests, besides loopback and the listening address. Default:
   * `advertisedHost`.
   */
  allowedHosts: httpPolicySettings.allowedHosts,
  /**
   * `open`: no authentication. `token`: requests carry a secret, which the kubeconfig includes in
   * the server's path.
   */
  access: z.enum(["open", "token"]).default("open"),
  /**
   * Secret of `access: token`. Default: generated at the first start and kept in the data
   * directory.
   */
  token: secret.optional(),
  /** With `access: token`, a secret in the path that grants access to pod logs only, for links. */
  logToken: secret.optional(),
  /** Directory of the stored objects, the pods' files and their logs. */
  dataDir: z.string().default(folder),
  /** Kubeconfig file to write. Default: `kubeconfig` in the data directory. */
  kubeconfig: z.string().optional(),
  logLevel,
  /** Maximum size of a request's body, bytes, as of a Kubernetes API server. */
  maxRequestBytes: z
    .int()
    .positive()
    .default(3 << 20),
  /** Maximum size of a stored object, bytes of JSON, as of etcd. */
  maxObjectBytes: z.int().positive().default(1_572_864),
  /** Retention of events, seconds. */
  eventTTL: z.number().positive().default(3600),
  ...podSettings,
});

export type Config = z.infer<typeof configSchema>;

const podSettingsSchema = z.strictObject(podSettings);

export type PodSettings = z.infer<typeof podSettingsSchema>;
