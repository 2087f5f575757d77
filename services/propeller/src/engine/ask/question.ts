import type { CatalogQuestions } from "../cache/questions.js";
import type { RecoveryQuestions } from "../recovery/questions.js";
import type { AdminQuestions } from "./admin.js";
import type { DynamicQuestions } from "./dynamic.js";

/**
 * All calls that a node may request from the shell: arguments (`fields`) and result (`value`). Each topic defines its
 * own table, listed here.
 */
export interface QuestionTable extends AdminQuestions, CatalogQuestions, DynamicQuestions, RecoveryQuestions {}

export type QuestionKind = keyof QuestionTable;
export type QuestionOf<K extends QuestionKind> = { readonly kind: K } & QuestionTable[K]["fields"];
export type Question = { readonly [K in QuestionKind]: QuestionOf<K> }[QuestionKind];
export type ValueOf<K extends QuestionKind> = QuestionTable[K]["value"];

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
export type Settled<V> =
  | { readonly kind: "value"; readonly value: V }
  | { readonly kind: "refused"; readonly code: RefusalCode; readonly message: string };

/** `error` is transient: the engine retries. */
export type Answer<V = unknown> = Settled<V> | { readonly kind: "error"; readonly message: string };
