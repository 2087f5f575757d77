import { createHash } from "node:crypto";
import { isWithinMs } from "@flyte-ts/auth";
import { SingleFlight } from "@flyte-ts/telemetry";
import { type ClosureModel, parseEncodedClosure, platformOf } from "@flyte-ts/workflow-crd";
import { inTurns, othersTurn } from "./in-turns.js";

/** Maximum of nodes in cached graphs without execution: a node takes about a KiB. */
const KEPT_NODES = 5_000;

/** Time for which a closure is used without another read, ms. A workflow version never changes; a replaced closure is noticed this late. */
const TRUST_MS = 60_000;

interface Known {
  /** Alive while an execution uses it or the cache pins it. */
  readonly graphs: WeakRef<ClosureModel>;
  readonly readAt: number;
  readonly hash: string;
}

/** Source of a closure that resources refer to. */
export interface ClosurePlace {
  readonly address: string;
  readonly read: () => Promise<Uint8Array>;
}

/** Cache of graphs by closure address: executions of the same version, concurrent or consecutive, share one graph and one read. */
export class SharedGraphs {
  readonly #reading = new SingleFlight<ClosureModel>();
  readonly #known = new Map<string, Known>();
  /** Most recently used first. */
  #kept: readonly ClosureModel[] = [];

  constructor(private readonly clock: () => Date = () => new Date()) {}

  /**
   * Returns the graphs of a closure for this resource.
   * @throws as `read` and `parseEncodedClosure` do.
   */
  async of(resource: unknown, { address, read }: ClosurePlace): Promise<ClosureModel> {
    const platform = platformOf(resource);
    const key = JSON.stringify([address, platform]);
    const graphs = this.#trusted(key) ?? (await this.#reading.run(key, () => this.#read(key, platform, read)));
    this.#keep(graphs);
    return graphs;
  }

  #trusted(key: string): ClosureModel | undefined {
    const known = this.#known.get(key);
    return known !== undefined && isWithinMs(this.clock(), known.readAt, TRUST_MS) ? known.graphs.deref() : undefined;
  }

  async #read(key: string, platform: ReturnType<typeof platformOf>, read: ClosurePlace["read"]): Promise<ClosureModel> {
    const readAt = this.clock().getTime();
    const closure = await read();
    const hash = createHash("sha256").update(closure).digest("base64");
    const known = this.#known.get(key);
    let graphs = known?.hash === hash ? known.graphs.deref() : undefined;
    if (graphs === undefined) {
      await othersTurn();
      graphs = await inTurns(parseEncodedClosure(closure, platform));
    }
    for (const [other, { graphs: held }] of this.#known) if (held.deref() === undefined) this.#known.delete(other);
    this.#known.set(key, { graphs: new WeakRef(graphs), readAt, hash });
    return graphs;
  }

  #keep(graphs: ClosureModel): void {
    if (this.#kept[0] === graphs) return;
    let room = KEPT_NODES;
    this.#kept = [graphs, ...this.#kept.filter((other) => other !== graphs)].filter((each) => (room -= sizeOf(each)) >= 0);
  }
}

/** Number of nodes of all its graphs. */
function sizeOf({ root, subWorkflows }: ClosureModel): number {
  let nodes = root.nodes.size;
  for (const { nodes: below } of subWorkflows.values()) nodes += below.size;
  return nodes;
}
