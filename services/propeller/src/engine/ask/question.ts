import type { CatalogQuestions } from "../cache/questions.js";
import type { RecoveryQuestions } from "../recovery/questions.js";
import type { AdminQuestions } from "./admin.js";
import type { DynamicQuestions } from "./dynamic.js";

/**
 * Every question that a node may ask the shell: what it says (`fields`), and what is
 * answered (`value`). Each topic has a table of its own, which stands with the topic
 * and is named here.
 */
export interface QuestionTable extends AdminQuestions, CatalogQuestions, DynamicQuestions, RecoveryQuestions {}

export type QuestionKind = keyof QuestionTable;
export type QuestionOf<K extends QuestionKind> = { readonly kind: K } & QuestionTable[K]["fields"];
export type Question = { readonly [K in QuestionKind]: QuestionOf<K> }[QuestionKind];
export type ValueOf<K extends QuestionKind> = QuestionTable[K]["value"];

/** Why a question is refused for good; the names are those of gRPC's codes. */
export type RefusalCode =
  | "INVALID_ARGUMENT"
  | "NOT_FOUND"
  | "ALREADY_EXISTS"
  | "PERMISSION_DENIED"
  | "FAILED_PRECONDITION"
  | "OUT_OF_RANGE"
  | "UNIMPLEMENTED"
  | "DATA_LOSS";

/** An answer that asking again would not change. */
export type Settled<V> =
  | { readonly kind: "value"; readonly value: V }
  | { readonly kind: "refused"; readonly code: RefusalCode; readonly message: string };

/** `error` is transient: the engine asks again. */
export type Answer<V = unknown> = Settled<V> | { readonly kind: "error"; readonly message: string };
