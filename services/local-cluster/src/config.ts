import { homedir } from "node:os";
import { join } from "node:path";
import { httpPolicySettings, logLevel, port } from "@flyte-ts/config";
import { z } from "zod";

const folder = join(homedir(), ".flyte-ts", "cluster");

/** How pods run on this machine. */
export const podSettings = {
  nodeName: z.string().default("local"),
  /** What pods may request together; CPU is 4 per core and memory twice the machine's unless given. */
  allocatable: z.record(z.string(), z.union([z.string(), z.number()])).default({}),
  /** Labels of the node, for selectors and affinity. */
  nodeLabels: z.record(z.string(), z.string()).default({}),
  /** Variables of every container; a pod's own win. */
  podEnv: z.record(z.string(), z.string()).default({}),
  /** Folders put before PATH in every container: where `pyflyte-execute` lives. */
  podPath: z.array(z.string()).default([]),
  imagePolicy: z
    .strictObject({
      /** Images or registries that cannot be pulled; `*` stands for any text. */
      unreachable: z.array(z.string()).default(["*.invalid/*", "*no-such*", "*does-not-exist*", "*nonexistent*"]),
    })
    .prefault({}),
  /** `enforce` kills a container whose memory passes its limit (OOMKilled). */
  memoryLimits: z.enum(["enforce", "ignore"]).default("enforce"),
  /** Size at which a container's log is cut; one older part is kept, bytes. */
  maxLogBytes: z
    .int()
    .positive()
    .default(64 << 20),
  /** flytekit's entry points are forks of a Python that has loaded what they import; others, and all when disabled, are new processes. */
  warmPython: z
    .strictObject({
      enabled: z.boolean().default(true),
      /** It is loaded at the start, rather than for the first container: that one need not wait for it. */
      ahead: z.boolean().default(false),
      /** Modules of its environment that tasks often import: a fork of it loads them too, and then takes its place. Each takes memory. */
      modules: z.array(z.string()).default([]),
      /** It ends when nothing was started for so long, ms. */
      idleMs: z.int().positive().default(180_000),
    })
    .prefault({}),
  /** What happens to running pods when the service is told to stop. */
  podsOnStop: z.enum(["keep", "kill"]).default("keep"),
};

/** A part of paths, long enough that it cannot be guessed. */
const secret = z.string().regex(/^[A-Za-z0-9_-]{16,256}$/, "a token has 16 to 256 letters, digits, `_` and `-`");

/** What `node dist/main.js --config FILE` reads. */
export const configSchema = z.strictObject({
  /** Address to listen on; anything but loopback needs `access: token`. */
  host: z.string().default("127.0.0.1"),
  /** 0 takes any free port; the kubeconfig names it. */
  port: port.default(0),
  /** Name or address by which others reach this machine: the kubeconfig names it in place of `host`. */
  advertisedHost: z.string().optional(),
  /** Names by which clients ask, besides loopback and the address it listens on; by default `advertisedHost`. */
  allowedHosts: httpPolicySettings.allowedHosts,
  /** `open`: whoever reaches the port. `token`: a secret that the kubeconfig carries in the server's path. */
  access: z.enum(["open", "token"]).default("open"),
  /** The secret of `access: token`. By default one that is made at the first start and kept in the data folder. */
  token: secret.optional(),
  /** With `access: token`: a secret, also part of the path, that opens the logs of pods and nothing else. Links to logs carry it. */
  logToken: secret.optional(),
  /** Holds the objects, the pods' folders and their logs. */
  dataDir: z.string().default(folder),
  /** File to write for kubectl and the services; by default `kubeconfig` in the data folder. */
  kubeconfig: z.string().optional(),
  logLevel,
  maxRequestBytes: z
    .int()
    .positive()
    .default(3 << 20),
  maxObjectBytes: z.int().positive().default(1_572_864),
  /** How long events are kept, seconds. */
  eventTTL: z.number().positive().default(3600),
  ...podSettings,
});

export type Config = z.infer<typeof configSchema>;

const podSettingsSchema = z.strictObject(podSettings);

export type PodSettings = z.infer<typeof podSettingsSchema>;
