import { END_NODE, START_NODE } from "@flyte-ts/domain/graph";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { CatalogCacheStatus } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { NodeFlag } from "@flyte-ts/idl/flytets/admin/v1/node_table_pb";

/** Rows of a node table by column; all columns have `length` values. */
export interface NodePage {
  readonly length: number;
  /** Id of the node's row, which identifies it in the stream. */
  readonly key: ArrayLike<number>;
  readonly id: readonly string[];
  /** Key of the enclosing node, 0 at the top level. */
  readonly parent: ArrayLike<number>;
  /** Number of NodeExecution.Phase. */
  readonly phase: ArrayLike<number>;
  /** Sum of {@link NodeFlag}. */
  readonly flags: ArrayLike<number>;
  /** Number of CatalogCacheStatus plus 1, 0 if not reported. */
  readonly cache: ArrayLike<number>;
  readonly attempts: ArrayLike<number>;
  /** Milliseconds since the creation of the execution. */
  readonly queued: ArrayLike<number>;
  /** Milliseconds since `queued`, -1 before the start. */
  readonly started: ArrayLike<number>;
  /** Milliseconds since `queued`, -1 before the end. */
  readonly ended: ArrayLike<number>;
  /** Name of the task, empty for nodes without attempts. */
  readonly entity: readonly string[];
  /** Code of the error, empty without one. */
  readonly error: readonly string[];
  /** Id of the node in its workflow. */
  readonly spec: readonly string[];
}

/** A page as the database returns it: numbers in binary, texts as JSON. */
export interface PageRow {
  readonly keys: Buffer;
  readonly parents: Buffer;
  readonly queued: Buffer;
  readonly started: Buffer;
  readonly ended: Buffer;
  /** Phase, flags, cache and attempts, one byte each. */
  readonly states: Buffer;
  readonly texts: readonly [ids: string[], entities: string[], errors: string[], specs: string[]];
}

/** Tag of NodeExecutionClosure.workflow_node_metadata, which is the first field of `target`. */
const WORKFLOW_NODE_TAG = 0x42;
const MAX_BYTE = 255;

/** Cases that map the names of an enum to its numbers plus `added`. */
const numbers = (all: Record<string, number | string>, added = 0): string =>
  Object.entries(all)
    .flatMap(([name, value]) => (typeof value === "number" ? [`WHEN '${name}' THEN ${value + added}`] : []))
    .join(" ");

const phaseNumber = `CASE n.phase ${numbers(NodeExecution_Phase)} ELSE 0 END`;
const cacheNumber = `CASE n.cache_status ${numbers(CatalogCacheStatus, 1)} ELSE 0 END`;
const flagSum = [
  `n.is_parent::int * ${NodeFlag.PARENT}`,
  `n.is_dynamic::int * ${NodeFlag.DYNAMIC}`,
  `n.is_array::int * ${NodeFlag.ARRAY}`,
  `CASE WHEN octet_length(n.target) > 0 AND get_byte(n.target, 0) = ${WORKFLOW_NODE_TAG} THEN ${NodeFlag.LAUNCHES} ELSE 0 END`,
  `(n.deck_uri <> '')::int * ${NodeFlag.DECK}`,
].join(" + ");

/** False for the nodes that mark the beginning and the end of a workflow. */
export const runsSomething = (table: string): string => {
  const reserved = `('${START_NODE}', '${END_NODE}')`;
  return `${table}.spec_node_id NOT IN ${reserved} AND ${table}.node_id NOT IN ${reserved}`;
};

/** Milliseconds between two columns of nanoseconds, -1 without the second. */
const sinceFirst = (column: string): string => `COALESCE((n.${column} - n.first_ns) / 1000000, -1)`;

/**
 * Returns expressions of one node's values, for rows `n` of node_executions, `parent` with the id
 * of the enclosing node, and `t` with the number of attempts and their task.
 *
 * @param acceptedNs expression of the execution's creation, nanoseconds since the epoch
 */
export const nodeValues = (acceptedNs: string): string => `n.id AS key, COALESCE(parent.id, 0) AS parent,
  (n.first_ns - ${acceptedNs}) / 1000000 AS queued, ${sinceFirst("started_ns")} AS started, ${sinceFirst("ended_ns")} AS ended,
  ((${phaseNumber}) << 24) | ((${flagSum}) << 16) | ((${cacheNumber}) << 8) | LEAST(COALESCE(t.attempts, 0), ${MAX_BYTE})::int AS state,
  n.node_id, COALESCE(t.name, '') AS entity, COALESCE(n.error_code, '') AS error, n.spec_node_id AS spec`;

/** Columns of node_executions that {@link nodeValues} needs, and the order of pages. */
export const readColumns = `id, execution_id, node_id, parent_node_id, created_at, first_ns, started_ns, ended_ns, phase, cache_status,
  is_parent, is_dynamic, is_array, target, deck_uri, error_code, spec_node_id`;

/** Aggregates of rows with {@link nodeValues}, in the order of the rows. */
export const pageColumns = `string_agg(int8send(key), '') AS keys, string_agg(int8send(parent), '') AS parents,
  string_agg(int8send(queued), '') AS queued, string_agg(int8send(started), '') AS started, string_agg(int8send(ended), '') AS ended,
  string_agg(int4send(state), '') AS states,
  json_build_array(json_agg(node_id), json_agg(entity), json_agg(error), json_agg(spec)) AS texts`;

export function readPage({ keys, parents, queued, started, ended, states, texts: [id, entity, error, spec] }: PageRow): NodePage {
  const byteAt = (at: number): Uint8Array => {
    const values = new Uint8Array(id.length);
    for (let index = 0; index < values.length; index++) values[index] = states[index * 4 + at] ?? 0;
    return values;
  };
  return {
    length: id.length,
    key: readLongs(keys),
    id,
    parent: readLongs(parents),
    phase: byteAt(0),
    flags: byteAt(1),
    cache: byteAt(2),
    attempts: byteAt(3),
    queued: readLongs(queued),
    started: readLongs(started),
    ended: readLongs(ended),
    entity,
    error,
    spec,
  };
}

/** Reads 64-bit integers that doubles represent exactly: row ids and milliseconds. */
function readLongs(bytes: Buffer): Float64Array {
  const values = new Float64Array(bytes.length / 8);
  for (let index = 0; index < values.length; index++) {
    values[index] = bytes.readInt32BE(index * 8) * 2 ** 32 + bytes.readUInt32BE(index * 8 + 4);
  }
  return values;
}
