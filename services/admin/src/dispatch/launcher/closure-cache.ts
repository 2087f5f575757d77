import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { LruCache, SingleFlight } from "@flyte-ts/async";
import { decodeWithoutNodes } from "@flyte-ts/workflow-crd";
import { findEncodedClosure } from "../../registry/index.js";
import { writeTaskQueue } from "./task-queue.js";

export interface StoredClosure {
  /** The closure; without the nodes of its own graph if it is large. */
  readonly closure: CompiledWorkflowClosure;
  /** The complete closure as stored, with the queue. */
  readonly encoded: Uint8Array;
  /** Too large for a resource. */
  readonly large: boolean;
}

/**
 * Maximum stored size, bytes, of a closure inside a resource. The API server reads and writes the
 * whole resource at each of the five writes per execution: a graph of 100 nodes tripled the total
 * cost of an execution.
 */
const MAX_INLINE_BYTES = 8 * 1024;
/** Capacity, bytes of stored size; decoded closures take about ten times as much. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Minimum weight of an entry: at most 128 are cached. */
const MIN_WEIGHT = MAX_BYTES / 128;

/** LRU cache of compiled workflows, whose versions are immutable. Readers must not modify them. */
export class ClosureCache {
  readonly #closures = new LruCache<StoredClosure>(MAX_BYTES);
  readonly #reading = new SingleFlight<StoredClosure | undefined>();

  constructor(private readonly db: Queryable) {}

  /** @param queue queue of AWS Batch, written into the tasks' containers; empty: none */
  async find(id: Identifier, queue = ""): Promise<StoredClosure | undefined> {
    const key = [id.project, id.domain, id.name, id.version, queue].join("\n");
    return this.#closures.get(key) ?? (await this.#reading.run(key, () => this.#read(key, id, queue)));
  }

  async #read(key: string, id: Identifier, queue: string): Promise<StoredClosure | undefined> {
    const registered = await findEncodedClosure(this.db, id);
    if (registered === undefined) return undefined;
    const encoded = queue === "" ? registered : writeTaskQueue(registered, queue);
    const large = encoded.length > MAX_INLINE_BYTES;
    const closure = large ? decodeWithoutNodes(encoded) : fromBinary(CompiledWorkflowClosureSchema, encoded);
    const stored = { closure, encoded, large };
    this.#closures.setIfAbsent(key, stored, Math.max(encoded.length, MIN_WEIGHT));
    return stored;
  }
}
