import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { closureWithoutNodes } from "@flyte-ts/workflow-crd";
import { RecentlyUsed } from "../recently-used.js";
import { findEncodedClosure } from "../workflow/find.js";

export interface StoredClosure {
  /** Without the nodes of its own graph where `encoded` is given. */
  readonly closure: CompiledWorkflowClosure;
  /** The whole, as it is stored, where so many nodes have no room in a resource. */
  readonly encoded?: Uint8Array;
}

/** Nodes of all that is kept, about 2 KiB each, so that a few large graphs do not fill the memory. */
const MAX_NODES = 20_000;
/** A small graph counts as much as this: 32 of them are kept. */
const MIN_WEIGHT = MAX_NODES / 32;
/** With so many nodes a resource is too large for sure: a node takes more than 100 bytes of JSON. */
const MANY_NODES = 10_000;
/** No node is encoded in less. */
const MIN_NODE_BYTES = 10;

/** Compiled workflows as they were registered; a version never changes. Readers must not either. */
export class ClosureCache {
  readonly #closures = new RecentlyUsed<CompiledWorkflowClosure>(MAX_NODES);

  constructor(private readonly db: Queryable) {}

  async find(id: Identifier): Promise<StoredClosure | undefined> {
    const key = [id.project, id.domain, id.name, id.version].join("\n");
    const known = this.#closures.get(key);
    if (known !== undefined) return { closure: known };
    const encoded = await findEncodedClosure(this.db, id);
    if (encoded === undefined) return undefined;
    if (encoded.length >= MANY_NODES * MIN_NODE_BYTES) {
      const { closure, nodes } = closureWithoutNodes(encoded);
      if (nodes >= MANY_NODES) return { closure, encoded };
    }
    const closure = fromBinary(CompiledWorkflowClosureSchema, encoded);
    this.#closures.keep(key, closure, Math.max(nodesOf(closure), MIN_WEIGHT));
    return { closure };
  }
}

function nodesOf({ primary, subWorkflows }: CompiledWorkflowClosure): number {
  return [primary, ...subWorkflows].reduce((sum, workflow) => sum + (workflow?.template?.nodes.length ?? 0), 0);
}
