import { NodeFlag } from "../../node-table/table/node-state.js";
import type { NodeRows } from "../../node-table/session/node-rows.js";

/** A node of the execution, as a graph shows it. */
export interface LiveNode {
  readonly id: string;
  readonly spec: string;
  readonly key: number;
  readonly parent: number;
  readonly state: number;
  /** Bits of NodeFlag. */
  readonly flags: number;
  readonly attempts: number;
  /** Milliseconds since the creation of the execution; Infinity before. */
  readonly started: number;
  readonly ended: number;
}

const utf8 = new TextDecoder();
const NONE: ReadonlyMap<string, LiveNode> = new Map();

/** Nodes of an execution by the node that they run in and their id in its workflow. */
export class LiveNodes {
  #byRow = new Map<number, LiveNode>();
  #children = new Map<number, Map<string, LiveNode>>();
  #dynamics = 0;

  /** Number of rows of nodes whose tasks have made workflows. */
  get dynamics(): number {
    return this.#dynamics;
  }

  apply(nodes: NodeRows): void {
    if (nodes.reset) [this.#byRow, this.#children, this.#dynamics] = [new Map(), new Map(), 0];
    for (const [at, row] of nodes.rows.entries()) this.#set(row, this.#nodeAt(nodes, at));
  }

  /** Returns the nodes that run in another, 0 for the execution, by their ids in its workflow. */
  childrenOf(key: number): ReadonlyMap<string, LiveNode> {
    return this.#children.get(key) ?? NONE;
  }

  /** Returns the nodes around a node from the outermost, and the node; empty if it is not known. */
  pathOf(id: string): readonly LiveNode[] {
    const byKey = new Map<number, LiveNode>();
    let node: LiveNode | undefined;
    for (const each of this.#byRow.values()) {
      byKey.set(each.key, each);
      if (each.id === id) node = each;
    }
    const path: LiveNode[] = [];
    for (; node !== undefined && !path.includes(node); node = byKey.get(node.parent)) path.unshift(node);
    return path;
  }

  #nodeAt({ rows, key, parent, state, flags, attempts, started, ended, spec, ids, idStart, specs }: NodeRows, at: number): LiveNode {
    const id = this.#byRow.get(rows[at] as number)?.id ?? utf8.decode(ids.subarray(idStart[at], idStart[at + 1]));
    return {
      id,
      spec: specs[spec[at] as number] ?? id,
      key: key[at] as number,
      parent: parent[at] as number,
      state: state[at] as number,
      flags: flags[at] as number,
      attempts: attempts[at] as number,
      started: started[at] as number,
      ended: ended[at] as number,
    };
  }

  /** A node that ran again since its parent did is another row: the later one counts. */
  #set(row: number, node: LiveNode): void {
    const isDynamic = (node.flags & NodeFlag.dynamic) !== 0;
    const was = this.#byRow.get(row);
    if (isDynamic && (was === undefined || (was.flags & NodeFlag.dynamic) === 0)) this.#dynamics++;
    this.#byRow.set(row, node);
    let siblings = this.#children.get(node.parent);
    if (siblings === undefined) this.#children.set(node.parent, (siblings = new Map()));
    const before = siblings.get(node.spec);
    if (before === undefined || before.key <= node.key) siblings.set(node.spec, node);
  }
}
