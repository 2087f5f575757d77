import type { CompiledWorkflowClosure } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { findWorkflowClosure } from "../workflow/find.js";

const CAPACITY = 32;

/** Compiled workflows as they were registered; a version never changes. Readers must not either. */
export class ClosureCache {
  readonly #closures = new Map<string, CompiledWorkflowClosure>();

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
    this.#closures.set(key, closure);
    const [oldest] = this.#closures.keys();
    if (this.#closures.size > CAPACITY && oldest !== undefined) this.#closures.delete(oldest);
    return closure;
  }
}
