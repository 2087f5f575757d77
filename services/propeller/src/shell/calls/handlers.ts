import type { CallResult, Call, CallKind, CallOf, ValueOf } from "../../engine/calls/call.js";

/** Executes calls of one kind. A rejection counts as a transient error. */
export type CallHandler<K extends CallKind> = (question: CallOf<K>) => Promise<CallResult<ValueOf<K>>>;

/** One handler for each kind of call. */
export type CallHandlers = { readonly [K in CallKind]: CallHandler<K> };

/** Executes a call of any kind; never rejects. */
export async function executeCall(callHandlers: CallHandlers, question: Call): Promise<CallResult> {
  try {
    return await (callHandlers[question.kind] as CallHandler<typeof question.kind>)(question as never);
  } catch (error) {
    return { kind: "error", message: String(error) };
  }
}
