import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NODE_PATTERN } from "./chain-project.js";

export interface SeenPod {
  /** Time at which the watch reported the pod as created, ms since the epoch. */
  readonly createdAt: number;
  /** Command of its container. */
  readonly command: readonly string[];
}

interface PodEvent {
  readonly type: string;
  readonly object: {
    readonly metadata: { readonly name: string };
    readonly spec: { readonly containers: readonly { readonly args?: readonly string[]; readonly command?: readonly string[] }[] };
  };
}

/** API of the local cluster of a stack. */
export class ClusterApi {
  readonly #url: string;

  /** @param data folder of the stack */
  constructor(data: string) {
    const kubeconfig = readFileSync(join(data, "kubeconfig"), "utf8");
    const server = /server: *"?([^"\s]+)/.exec(kubeconfig)?.[1];
    if (server === undefined) throw new Error("the kubeconfig of the stack names no server");
    this.#url = server;
  }

  /** Starts of containers so far by the origin of their processes. */
  async starts(): Promise<Readonly<Record<string, number>>> {
    const { origin } = new URL(this.#url);
    const text = await (await fetch(`${origin}/metrics`)).text();
    const lines = text.matchAll(/^flyte_ts_local_cluster_container_starts_total\{origin="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...lines].map(([, name = "", count]) => [name, Number(count)]));
  }

  /** Watches the pods of a namespace until `stop`. Resolves when the watch is open. */
  async watchPods(namespace: string): Promise<{ readonly pods: ReadonlyMap<number, SeenPod>; stop(): void }> {
    const abort = new AbortController();
    const pods = new Map<number, SeenPod>();
    const path = `${this.#url}/api/v1/namespaces/${namespace}/pods?watch=1`;
    const { body } = await fetch(path, { headers: { accept: "application/json" }, signal: abort.signal });
    void readEvents(body, pods).catch((error: unknown) => {
      if (!abort.signal.aborted) throw error;
    });
    return { pods, stop: () => abort.abort() };
  }
}

async function readEvents(body: ReadableStream<Uint8Array> | null, pods: Map<number, SeenPod>): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of body ?? []) {
    const now = Date.now();
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { type, object } = JSON.parse(line) as PodEvent;
      const node = Number(NODE_PATTERN.exec(object.metadata.name)?.[1] ?? Number.NaN);
      if (type !== "ADDED" || Number.isNaN(node)) continue;
      const [container] = object.spec.containers;
      pods.set(node, { createdAt: now, command: [...(container?.command ?? []), ...(container?.args ?? [])] });
    }
  }
}
