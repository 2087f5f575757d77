import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createLogger } from "@flyte-ts/telemetry";
import { type Cluster, startCluster } from "./cluster.js";
import { type Config, configSchema } from "./config.js";
import { type JsonObject, type KubeObject } from "./object/model.js";

export interface Answer {
  readonly status: number;
  readonly body: KubeObject & { readonly items: readonly KubeObject[]; readonly reason: string; readonly message: string };
}

export interface WatchEvent {
  readonly type: string;
  readonly object: KubeObject;
}

export interface Watching {
  readonly events: WatchEvent[];
  /** Resolves to the first past or future event that matches. */
  until(fits: (event: WatchEvent) => boolean): Promise<WatchEvent>;
  /** Resolves when the server ends the stream. */
  readonly ended: Promise<void>;
  stop(): void;
}

/** A cluster on its own directory, and a client for it. */
export interface TestCluster {
  readonly cluster: Cluster;
  readonly folder: string;
  call(method: string, path: string, options?: { body?: unknown; type?: string; accept?: string }): Promise<Answer>;
  text(path: string): Promise<string>;
  watch(path: string, accept?: string): Watching;
  /** Restarts the cluster on the same directory. */
  restart(config?: Partial<Config>): Promise<void>;
  stop(): Promise<void>;
}

export async function testCluster(config: Partial<Config> = {}): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), "local-cluster-"));
  const start = (more: Partial<Config>) =>
    startCluster({
      config: { ...configSchema.parse({ dataDir: folder, logLevel: "error", podsOnStop: "kill" }), ...config, ...more },
      logger: createLogger({ service: "test", level: "error" }),
      now: Date.now,
      forkServerProgram: fileURLToPath(new URL("../python/fork_server.py", import.meta.url)),
      fatal: (error) => {
        throw error;
      },
    });
  const state = { cluster: await start({}) };
  const url = (path: string) => `http://127.0.0.1:${state.cluster.port}${path}`;
  return {
    get cluster() {
      return state.cluster;
    },
    folder,
    call: async (method, path, { body, type = "application/json", accept = "application/json" } = {}) => {
      const response = await fetch(url(path), {
        method,
        headers: { accept, ...(body === undefined ? {} : { "content-type": type }) },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      return { status: response.status, body: (await response.json()) as Answer["body"] };
    },
    text: async (path) => (await fetch(url(path))).text(),
    watch: (path, accept = "application/json") => startWatch(url(path), accept),
    restart: async (more = {}) => {
      await state.cluster.close();
      state.cluster = await start(more);
    },
    stop: async () => {
      await state.cluster.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function startWatch(url: string, accept: string): Watching {
  const events: WatchEvent[] = [];
  const waiting = new Set<() => void>();
  const stop = new AbortController();
  const read = async () => {
    const response = await fetch(url, { headers: { accept }, signal: stop.signal });
    if (response.status !== 200) throw new Error(`watch answered ${response.status}: ${await response.text()}`);
    let rest = "";
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) events.push(JSON.parse(line) as WatchEvent);
      for (const wake of waiting) wake();
    }
  };
  const ended = read().catch((error: unknown) => {
    if (!stop.signal.aborted) throw error;
  });
  return {
    events,
    ended,
    until: (fits) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = events.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        ended.then(() => reject(new Error("the watch ended")), reject);
        look();
      }),
    stop: () => stop.abort(),
  };
}

export const FLYTE_DEFINITION: JsonObject = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "flyteworkflows.flyte.lyft.com" },
  spec: {
    group: "flyte.lyft.com",
    names: { kind: "FlyteWorkflow", plural: "flyteworkflows", singular: "flyteworkflow", shortNames: ["fly"] },
    scope: "Namespaced",
    versions: [
      {
        name: "v1alpha1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};

export const FLYTE_PATH = "/apis/flyte.lyft.com/v1alpha1/namespaces/default/flyteworkflows";

export const workflow = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "flyte.lyft.com/v1alpha1",
  kind: "FlyteWorkflow",
  metadata: { name },
  ...more,
});
