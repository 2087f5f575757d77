import { createHash } from "node:crypto";
import { type ClosureModel, parseEncodedClosure, platformOf } from "@flyte-ts/workflow-crd";
import { inTurns, othersTurn } from "./in-turns.js";

/** Nodes of graphs that are kept when no execution runs them: a node takes about a KiB. */
const KEPT_NODES = 5_000;

/** Graphs by the bytes of their closures: executions that run the same version at the same time, or one after the other, share one. */
export class SharedGraphs {
  readonly #reading = new Map<string, Promise<ClosureModel>>();
  /** As long as an execution has it. */
  readonly #known = new Map<string, WeakRef<ClosureModel>>();
  /** The one that was asked for last comes first. */
  #kept: readonly ClosureModel[] = [];

  /**
   * The graphs that a closure's bytes give for this resource.
   * @throws as `parseEncodedClosure` does.
   */
  async of(resource: unknown, closure: Uint8Array): Promise<ClosureModel> {
    const platform = platformOf(resource);
    const key = createHash("sha256").update(JSON.stringify(platform)).update(closure).digest("base64");
    const graphs = this.#known.get(key)?.deref() ?? (await this.#read(key, () => inTurns(parseEncodedClosure(closure, platform))));
    this.#keep(graphs);
    return graphs;
  }

  /** Once for all who ask meanwhile. */
  #read(key: string, parse: () => Promise<ClosureModel>): Promise<ClosureModel> {
    let reading = this.#reading.get(key);
    if (reading === undefined) {
      reading = this.#readAlone(key, parse).finally(() => this.#reading.delete(key));
      this.#reading.set(key, reading);
    }
    return reading;
  }

  async #readAlone(key: string, parse: () => Promise<ClosureModel>): Promise<ClosureModel> {
    await othersTurn();
    const graphs = await parse();
    for (const [other, known] of this.#known) if (known.deref() === undefined) this.#known.delete(other);
    this.#known.set(key, new WeakRef(graphs));
    return graphs;
  }

  #keep(graphs: ClosureModel): void {
    if (this.#kept[0] === graphs) return;
    let room = KEPT_NODES;
    this.#kept = [graphs, ...this.#kept.filter((other) => other !== graphs)].filter((each) => (room -= sizeOf(each)) >= 0);
  }
}

/** Nodes of all its graphs. */
function sizeOf({ root, subWorkflows }: ClosureModel): number {
  let nodes = root.nodes.size;
  for (const { nodes: below } of subWorkflows.values()) nodes += below.size;
  return nodes;
}
