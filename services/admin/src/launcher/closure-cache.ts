import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { SingleFlight } from "@flyte-ts/telemetry";
import { closureWithoutNodes } from "@flyte-ts/workflow-crd";
import { RecentlyUsed } from "../recently-used.js";
import { findEncodedClosure } from "../workflow/find.js";

export interface StoredClosure {
  /** Without the nodes of its own graph where it is large. */
  readonly closure: CompiledWorkflowClosure;
  /** The whole, as it is stored. */
  readonly encoded: Uint8Array;
  /** Too large for a resource. */
  readonly large: boolean;
}

/**
 * A closure of more bytes, as stored, stands beside the resource: at each write the API server reads and writes all of it, and at
 * five writes an execution a graph of 100 nodes cost it three times as much as all else.
 */
const MAX_INLINE_BYTES = 8 * 1024;
/** Bytes of all that is kept, as stored; those that are decoded take some ten times as much. */
const MAX_BYTES = 4 * 1024 * 1024;
/** A small graph counts as much as this: 128 of them are kept. */
const MIN_WEIGHT = MAX_BYTES / 128;

/** Compiled workflows as they were registered; a version never changes. Readers must not either. */
export class ClosureCache {
  readonly #closures = new RecentlyUsed<StoredClosure>(MAX_BYTES);
  readonly #reading = new SingleFlight<StoredClosure | undefined>();

  constructor(private readonly db: Queryable) {}

  async find(id: Identifier): Promise<StoredClosure | undefined> {
    const key = [id.project, id.domain, id.name, id.version].join("\n");
    return this.#closures.get(key) ?? (await this.#reading.do(key, () => this.#read(key, id)));
  }

  async #read(key: string, id: Identifier): Promise<StoredClosure | undefined> {
    const encoded = await findEncodedClosure(this.db, id);
    if (encoded === undefined) return undefined;
    const large = encoded.length > MAX_INLINE_BYTES;
    const closure = large ? closureWithoutNodes(encoded) : fromBinary(CompiledWorkflowClosureSchema, encoded);
    const stored = { closure, encoded, large };
    this.#closures.keep(key, stored, Math.max(encoded.length, MIN_WEIGHT));
    return stored;
  }
}
