import { checkExpansion, type Expansion, ExpansionError } from "@flyte-ts/domain/graph";
import type { Queryable } from "@flyte-ts/postgres";
import type { RegistryConfig } from "../config.js";
import { LruCache } from "@flyte-ts/async";
import { invalidArgument } from "../../platform/index.js";
import { findExpansion } from "../store/workflows.js";

/** Maximum of cached expansions. */
const MAX_ENTRIES = 10_000;

/** LRU cache of the sizes of expanded workflows, by row id. Versions are immutable. */
export class ExpansionCache {
  readonly #known = new LruCache<Expansion>(MAX_ENTRIES);

  constructor(private readonly db: Queryable) {}

  async find(workflowRowId: bigint): Promise<Expansion | undefined> {
    const key = String(workflowRowId);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const found = await findExpansion(this.db, workflowRowId);
    if (found !== undefined) this.#known.setIfAbsent(key, found, 1);
    return found;
  }
}

/** @throws RpcError INVALID_ARGUMENT that names the limit and the count. */
export function rejectExpansion(name: string, expansion: Expansion, { registration }: Pick<RegistryConfig, "registration">): void {
  const { maxWorkflowInstances, maxWorkflowDepth } = registration;
  try {
    checkExpansion(name, expansion, { maxInstances: maxWorkflowInstances, maxDepth: maxWorkflowDepth });
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error;
    throw invalidArgument(error.message);
  }
}
