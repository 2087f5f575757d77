import type { CatalogCalls } from "./catalog.js";
import type { RecoveryCalls } from "./recovery.js";
import type { AdminCalls } from "./admin.js";
import type { DynamicCalls } from "./dynamic.js";

/**
 * All calls that a node may request from the shell: arguments (`fields`) and result (`value`). Each
 * topic defines its own table, listed here.
 */
export interface CallTable extends AdminCalls, CatalogCalls, DynamicCalls, RecoveryCalls {}

export type CallKind = keyof CallTable;
export type CallOf<K extends CallKind> = { readonly kind: K } & CallTable[K]["fields"];
export type Call = { readonly [K in CallKind]: CallOf<K> }[CallKind];
export type ValueOf<K extends CallKind> = CallTable[K]["value"];

/** Reason of a permanent refusal, with the names of gRPC codes. */
export type RefusalCode =
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "FAILED_PRECONDITION"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "DATA_LOSS";

/** A final result, which a retry would not change. */
export type CallOutcome<V> =
  | { readonly kind: "value"; readonly value: V }
  | { readonly kind: "refused"; readonly code: RefusalCode; readonly message: string };

/** `error` is transient: the engine retries. */
export type CallResult<V = unknown> = CallOutcome<V> | { readonly kind: "error"; readonly message: string };
