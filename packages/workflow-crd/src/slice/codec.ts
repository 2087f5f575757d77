import { gunzipSync, gzipSync } from "node:zlib";
import { maxInflatedBytes, type Limits, scanJson, violationText } from "@flyte-ts/input-limits";
import { checkVersion } from "../parse/status-version.js";
import { Field, type WorkflowFormatError } from "../parse/field.js";
import { parseNodeStatus } from "../parse/status.js";
import { SLICE_VERSION, type NodeStatus } from "../model/status.js";

/**
 * A node in a slice: its path of ids from the top, and its status without those of its descendants.
 */
export interface SliceEntry {
  readonly path: readonly string[];
  readonly status: NodeStatus;
}

/** A slice after reading. */
export interface LoadedSlice {
  /** Key of the slice in the root. */
  readonly key: string;
  readonly name: string;
  readonly entries: readonly SliceEntry[];
}

/** Exceeds the limits of any real slice; a larger one is malformed. */
const SLICE_LIMITS: Limits = { bytes: 32 * 1024 * 1024, elements: 1_000_000, depth: 200 };

/** Maximum size of a slice's blob, bytes. */
export const MAX_SLICE_BYTES = SLICE_LIMITS.bytes;

/** Encodes a slice: gzip of JSON, `{version, nodes: [[path, status]]}`. */
export function encodeSlice(entries: readonly SliceEntry[]): Uint8Array {
  const text = JSON.stringify({ version: SLICE_VERSION, nodes: entries.map(({ path, status }) => [path, status]) });
  return gzipSync(text, { level: 1 });
}

/**
 * @param key the slice's, for errors.
 * @throws WorkflowFormatError when the bytes are no slice, StatusTooNewError when a newer build
 *   wrote them.
 */
export function decodeSlice(bytes: Uint8Array, key: string): readonly SliceEntry[] {
  const root = sliceField(key, decompressSlice(bytes, key));
  checkVersion(root.at("version"), SLICE_VERSION);
  return root
    .at("nodes")
    .items()
    .map((pair) => {
      const [path, status, ...rest] = pair.items();
      const ids = path?.items().map((id) => id.string()) ?? [];
      if (status === undefined || rest.length > 0 || ids.length === 0) throw pair.error("must be a path and a status");
      return { path: ids, status: parseNodeStatus(status) };
    });
}

/** A slice as a field of the resource, for errors. */
function sliceField(key: string, value: unknown): Field {
  const parent = ["status", "slices", "names"].reduce((field, part) => new Field({}, part, field), new Field({}, "resource"));
  return new Field(value, key, parent);
}

/** @throws WorkflowFormatError for the slice of that key. */
export function sliceNotFound(key: string, uri: string): WorkflowFormatError {
  return sliceField(key, undefined).error(`the blob ${uri} does not exist`);
}

function decompressSlice(bytes: Uint8Array, key: string): unknown {
  try {
    const inflatedBytes = maxInflatedBytes(bytes, "gzip", SLICE_LIMITS.bytes);
    if (inflatedBytes > SLICE_LIMITS.bytes) throw new Error(`it has more than ${SLICE_LIMITS.bytes} bytes`);
    const text = gunzipSync(bytes, { maxOutputLength: Math.max(inflatedBytes, 1) });
    const violation = scanJson(text, SLICE_LIMITS);
    if (violation !== undefined) throw new Error(`it ${violationText(violation)}`);
    return JSON.parse(text.toString());
  } catch (cause) {
    throw sliceField(key, undefined).error(`is not a slice of a status: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}
