import { fromBinary } from "@bufbuild/protobuf";
import { LruCache } from "@flyte-ts/async";
import { closureExpansion } from "@flyte-ts/compiler";
import { checkExpansion, type Expansion, ExpansionError } from "@flyte-ts/domain/graph";
import { CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Queryable } from "@flyte-ts/postgres";
import type { AdminConfig } from "../../config.js";
import { invalidArgument } from "../../platform/rpc-errors.js";

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

/** Reads the expanded size of a stored workflow; computes it for rows of earlier builds. Undefined when the row does not exist. */
export async function findExpansion(db: Queryable, workflowRowId: bigint): Promise<Expansion | undefined> {
  const { rows } = await db.query<{ expanded_instances: number | null; expanded_depth: number | null }>({
    name: "find-workflow-expansion",
    text: "SELECT expanded_instances, expanded_depth FROM workflows WHERE id = $1",
    values: [workflowRowId],
  });
  const row = rows[0];
  if (row === undefined) return undefined;
  const { expanded_instances: instances, expanded_depth: depth } = row;
  return instances === null || depth === null ? countStored(db, workflowRowId) : { instances, depth };
}

async function countStored(db: Queryable, workflowRowId: bigint): Promise<Expansion | undefined> {
  const { rows } = await db.query<{ closure: Uint8Array }>({
    name: "find-closure-to-count",
    text: "SELECT closure FROM workflows WHERE id = $1",
    values: [workflowRowId],
  });
  if (rows[0] === undefined) return undefined;
  const expansion = closureExpansion(fromBinary(CompiledWorkflowClosureSchema, rows[0].closure));
  await db.query({
    name: "note-workflow-expansion",
    text: "UPDATE workflows SET expanded_instances = $2, expanded_depth = $3 WHERE id = $1",
    values: [workflowRowId, expansion.instances, expansion.depth],
  });
  return expansion;
}

/** @throws RpcError INVALID_ARGUMENT that names the limit and the count. */
export function rejectExpansion(name: string, expansion: Expansion, { registration }: Pick<AdminConfig, "registration">): void {
  const { maxWorkflowInstances, maxWorkflowDepth } = registration;
  try {
    checkExpansion(name, expansion, { maxInstances: maxWorkflowInstances, maxDepth: maxWorkflowDepth });
  } catch (error) {
    if (!(error instanceof ExpansionError)) throw error;
    throw invalidArgument(error.message);
  }
}
