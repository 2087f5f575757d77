import { readSuffixes } from "../../wire/read-ids.js";
import { MalformedMessageError, readDeltas, readVarints } from "../../wire/read-varints.js";
import { readFields } from "../../wire/read-fields.js";

/**
 * Rows of a flytets.admin.v1.NodeColumns message as arrays of `length` values. Times are
 * milliseconds since the creation of the execution.
 */
export interface NodeColumns {
  readonly length: number;
  readonly key: Float64Array;
  /** Leading bytes that the id shares with the id of the row before. */
  readonly idPrefix: Uint8Array;
  /** Lengths of the remaining bytes of the ids. */
  readonly idSuffixLength: Int32Array;
  /** Remaining bytes of all ids. */
  readonly idSuffix: Uint8Array;
  /** Key of the enclosing node; 0 at the top level. */
  readonly parent: Float64Array;
  readonly phase: Uint8Array;
  readonly flags: Uint8Array;
  /** CatalogCacheStatus plus 1; 0 if not reported. */
  readonly cache: Uint8Array;
  readonly attempts: Uint8Array;
  /** Index plus 1 into the texts of the connection; 0: none. */
  readonly entity: Float64Array;
  readonly queued: Float64Array;
  /** Infinity before the start. */
  readonly started: Float64Array;
  /** Infinity before the end. */
  readonly ended: Float64Array;
  /** Index plus 1 into the texts of the connection; 0: none. */
  readonly error: Float64Array;
  /** Index plus 1 into the texts of the connection; 0: the node's id. */
  readonly spec: Float64Array;
}

/** Numbers of the message's fields in idl/flytets/admin/v1/node_table.proto. */
const FIELDS = [
  "length",
  "key",
  "idPrefix",
  "idSuffix",
  "parent",
  "phase",
  "flags",
  "cache",
  "attempts",
  "entity",
  "queued",
  "started",
  "ended",
  "error",
  "spec",
] as const;
const EMPTY = new Uint8Array();

/**
 * Reads an encoded NodeColumns message. Columns of bytes are views of the message.
 *
 * @throws MalformedMessageError when a column does not have `length` values.
 */
export function readColumns(bytes: Uint8Array): NodeColumns {
  const columns = new Map<string, Uint8Array>();
  let length = 0;
  readFields(bytes, {
    number: (field, value) => {
      if (FIELDS[field - 1] === "length") length = value;
    },
    bytes: (field, value) => columns.set(FIELDS[field - 1] ?? "", value),
  });
  const column = (name: (typeof FIELDS)[number]): Uint8Array => columns.get(name) ?? EMPTY;
  const byteColumn = (name: (typeof FIELDS)[number]): Uint8Array => {
    const found = column(name);
    if (found.length !== length) throw new MalformedMessageError(`${name} has ${found.length} of ${length} rows`);
    return found;
  };
  const queued = readDeltas(column("queued"), length);
  return {
    length,
    key: readDeltas(column("key"), length),
    idPrefix: byteColumn("idPrefix"),
    ...readSuffixes(column("idSuffix"), length),
    parent: readDeltas(column("parent"), length),
    phase: byteColumn("phase"),
    flags: byteColumn("flags"),
    cache: byteColumn("cache"),
    attempts: byteColumn("attempts"),
    entity: readVarints(column("entity"), length),
    queued,
    started: readTimes(column("started"), queued),
    ended: readTimes(column("ended"), queued),
    error: readVarints(column("error"), length),
    spec: readVarints(column("spec"), length),
  };
}

/** Reads times after `queued`; −1, "not yet", becomes Infinity. */
function readTimes(bytes: Uint8Array, queued: Float64Array): Float64Array {
  const times = readVarints(bytes, queued.length);
  for (let row = 0; row < times.length; row++) {
    const after = times[row] as number;
    times[row] = after === -1 ? Number.POSITIVE_INFINITY : after + (queued[row] as number);
  }
  return times;
}
