import type { JsonObject } from "@bufbuild/protobuf";

/** Maximum size of a plugin state, bytes: a limit of the plugin protocol. */
const MAX_BYTES = 4 * 1024;

/** Record of an attempt in the plugin state. */
export type RecordedAttempt =
  /** The plugin state records no job, or that none exists. */
  | { readonly kind: "none" }
  /** The job was about to be created. */
  | { readonly kind: "creating" }
  /** `lost`: the attempt failed because its API did not answer, so that the job may still run. */
  | { readonly kind: "created"; readonly job: unknown; readonly lost: boolean };

interface Stored {
  readonly api: string;
  readonly job?: unknown;
  readonly lost?: boolean;
  /** True when no job was created, nor runs. */
  readonly nothing?: boolean;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export function encodeCreating(api: string): Uint8Array {
  return encode({ api });
}

/** State of an attempt whose job was refused, or has stopped. */
export function encodeNothing(api: string): Uint8Array {
  return encode({ api, nothing: true });
}

/** @throws RangeError beyond 4 KiB. */
export function encodeCreated(api: string, job: JsonObject, { lost = false } = {}): Uint8Array {
  return encode({ api, job, ...(lost && { lost }) });
}

/** Reads the plugin state of a request; the state of another API counts as none. */
export function decodePluginState(state: Uint8Array, api: string): RecordedAttempt {
  const stored = parse(state);
  if (stored?.api !== api || stored.nothing === true) return { kind: "none" };
  return stored.job === undefined ? { kind: "creating" } : { kind: "created", job: stored.job, lost: stored.lost === true };
}

/** Name of the API that wrote the state; undefined for a foreign or empty one. */
export function apiOfState(state: Uint8Array): string | undefined {
  return parse(state)?.api;
}

function encode(stored: Stored): Uint8Array {
  const bytes = encoder.encode(JSON.stringify(stored));
  if (bytes.length > MAX_BYTES) throw new RangeError(`plugin state of ${bytes.length} bytes, more than ${MAX_BYTES}`);
  return bytes;
}

function parse(state: Uint8Array): Stored | undefined {
  if (state.length === 0) return undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(state));
    const isStored = typeof value === "object" && value !== null && typeof (value as Stored).api === "string";
    return isStored ? (value as Stored) : undefined;
  } catch {
    return undefined;
  }
}
