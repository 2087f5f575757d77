import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findWorkflowClosure } from "../workflow/find.js";

const CAPACITY = 32;
/** Nodes of all that is kept, about 2 KiB each, so that a few large graphs do not fill the memory. */
const MAX_NODES = 20_000;

/** Compiled workflows as they were registered; a version never changes. Readers must not either. */
export class ClosureCache {
  readonly #closures = new Map<string, CompiledWorkflowClosure>();
  #nodes = 0;

  constructor(private readonly db: Queryable) {}

  async find(id: Identifier): Promise<CompiledWorkflowClosure | undefined> {
    const key = [id.project, id.domain, id.name, id.version].join("\n");
    const known = this.#closures.get(key);
    if (known !== undefined) {
      // To the end of the queue: the one that nobody asked for longest goes first.
      this.#closures.delete(key);
      this.#closures.set(key, known);
      return known;
    }
    const closure = await findWorkflowClosure(this.db, id);
    if (closure === undefined) return undefined;
    const nodes = nodesOf(closure);
    // Somebody who asked at the same time may have been first.
    if (nodes > MAX_NODES || this.#closures.has(key)) return closure;
    this.#closures.set(key, closure);
    this.#nodes += nodes;
    for (const [oldest, dropped] of this.#closures) {
      if (this.#closures.size <= CAPACITY && this.#nodes <= MAX_NODES) break;
      this.#closures.delete(oldest);
      this.#nodes -= nodesOf(dropped);
    }
    return closure;
  }
}

function nodesOf({ primary, subWorkflows }: CompiledWorkflowClosure): number {
  return [primary, ...subWorkflows].reduce((sum, workflow) => sum + (workflow?.template?.nodes.length ?? 0), 0);
}
