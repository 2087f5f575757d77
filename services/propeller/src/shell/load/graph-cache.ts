import { createHash } from "node:crypto";
import { isWithinMs } from "@flyte-ts/auth";
import { SingleFlight } from "@flyte-ts/async";
import { type ClosureModel, parseEncodedClosure, platformOf } from "@flyte-ts/workflow-crd";
import { runCooperatively, yieldToEventLoop } from "../yield-to-event-loop.js";

/** Maximum of nodes in cached graphs without execution: a node takes about a KiB. */
const MAX_PINNED_NODES = 5_000;

/**
 * Time for which a closure is used without another read, ms. A workflow version never changes; a
 * replaced closure is noticed this late.
 */
const FRESH_MS = 60_000;

interface CacheEntry {
  /** Alive while an execution uses it or the cache pins it. */
  readonly graphs: WeakRef<ClosureModel>;
  readonly readAt: number;
  readonly hash: string;
}

/** Source of a closure that resources refer to. */
export interface ClosureSource {
  readonly uri: string;
  readonly read: () => Promise<Uint8Array>;
}

/**
 * Cache of graphs by closure address: executions of the same version, concurrent or consecutive,
 * share one graph and one read.
 */
export class GraphCache {
  readonly #reading = new SingleFlight<ClosureModel>();
  readonly #entries = new Map<string, CacheEntry>();
  /** Most recently used first. */
  #pinned: readonly ClosureModel[] = [];

  constructor(private readonly clock: () => Date = () => new Date()) {}

  /**
   * Returns the graphs of a closure for this resource.
   * @throws as `read` and `parseEncodedClosure` do.
   */
  async get(resource: unknown, { uri: address, read }: ClosureSource): Promise<ClosureModel> {
    const platform = platformOf(resource);
    const key = JSON.stringify([address, platform]);
    const graphs = this.#fresh(key) ?? (await this.#reading.run(key, () => this.#read(key, platform, read)));
    this.#pin(graphs);
    return graphs;
  }

  #fresh(key: string): ClosureModel | undefined {
    const known = this.#entries.get(key);
    return known !== undefined && isWithinMs(this.clock(), known.readAt, FRESH_MS) ? known.graphs.deref() : undefined;
  }

  async #read(key: string, platform: ReturnType<typeof platformOf>, read: ClosureSource["read"]): Promise<ClosureModel> {
    const readAt = this.clock().getTime();
    const closure = await read();
    const hash = createHash("sha256").update(closure).digest("base64");
    const known = this.#entries.get(key);
    let graphs = known?.hash === hash ? known.graphs.deref() : undefined;
    if (graphs === undefined) {
      await yieldToEventLoop();
      graphs = await runCooperatively(parseEncodedClosure(closure, platform));
    }
    for (const [other, { graphs: held }] of this.#entries) if (held.deref() === undefined) this.#entries.delete(other);
    this.#entries.set(key, { graphs: new WeakRef(graphs), readAt, hash });
    return graphs;
  }

  #pin(graphs: ClosureModel): void {
    if (this.#pinned[0] === graphs) return;
    let remaining = MAX_PINNED_NODES;
    this.#pinned = [graphs, ...this.#pinned.filter((other) => other !== graphs)].filter((each) => (remaining -= sizeOf(each)) >= 0);
  }
}

/** Number of nodes of all its graphs. */
function sizeOf({ root, subWorkflows }: ClosureModel): number {
  let nodes = root.nodes.size;
  for (const { nodes: below } of subWorkflows.values()) nodes += below.size;
  return nodes;
}
