import { readFields } from "../../wire/read-fields.js";
import { type NodeColumns, readColumns } from "./read-columns.js";
import { type ExecutionState, readExecution } from "./read-execution.js";
import { readVarint } from "../../wire/read-varints.js";

/** Numbers of nodes of a whole execution. */
export interface NodeCounts {
  /** By number of flyteidl.core.NodeExecution.Phase. */
  readonly byPhase: readonly number[];
  /** Nodes whose outputs came from the cache. */
  readonly cached: number;
  /** Nodes that have not ended and have more than one attempt. */
  readonly retrying: number;
}

/** A flytets.admin.v1.NodeTableChunk message; see idl/flytets/admin/v1/node_table.proto. */
export interface NodeTableChunk {
  readonly cursor: string;
  readonly reset: boolean;
  readonly complete: boolean;
  readonly ended: boolean;
  readonly texts: readonly string[];
  readonly nodes?: NodeColumns;
  readonly counts?: NodeCounts;
  readonly execution?: ExecutionState;
}

const utf8 = new TextDecoder();

/**
 * Reads an encoded NodeTableChunk.
 *
 * @throws MalformedMessageError when the bytes are no such message.
 */
export function readChunk(bytes: Uint8Array): NodeTableChunk {
  const texts: string[] = [];
  const chunk: { -readonly [Key in keyof NodeTableChunk]: NodeTableChunk[Key] } = {
    cursor: "",
    reset: false,
    complete: false,
    ended: false,
    texts,
  };
  readFields(bytes, {
    number: (field, value) => {
      if (field === 2) chunk.reset = value !== 0;
      if (field === 3) chunk.complete = value !== 0;
      if (field === 4) chunk.ended = value !== 0;
    },
    bytes: (field, value) => {
      if (field === 1) chunk.cursor = utf8.decode(value);
      if (field === 5) texts.push(utf8.decode(value));
      if (field === 6) chunk.nodes = readColumns(value);
      if (field === 7) chunk.counts = readCounts(value);
      if (field === 8) chunk.execution = readExecution(value);
    },
  });
  return chunk;
}

function readCounts(bytes: Uint8Array): NodeCounts {
  const byPhase: number[] = [];
  let [cached, retrying] = [0, 0];
  readFields(bytes, {
    number: (field, value) => {
      if (field === 1) byPhase.push(value);
      if (field === 2) cached = value;
      if (field === 3) retrying = value;
    },
    bytes: (field, value) => {
      const packed = { bytes: value, at: 0 };
      while (field === 1 && packed.at < value.length) byPhase.push(readVarint(packed));
    },
  });
  return { byPhase, cached, retrying };
}
