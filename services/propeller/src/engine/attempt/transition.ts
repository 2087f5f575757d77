import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { ExecutionErrorJson, TaskNodeStatus } from "@flyte-ts/workflow-crd/status";
import type { UncommittedSuccess } from "../graph/node-data.js";
import type { FailureDetails, Success } from "../lifecycle/end-node.js";

/** Change of an attempt that a step decides and `applyTransition` applies. Data only. */
export type AttemptTransition =
  /** An event that changes nothing. */
  | { readonly kind: "ignore" }
  /** Repeat the abort of an attempt that propeller has ended, unless the report is of its end. */
  | { readonly kind: "abortZombie"; readonly request: TaskRequest | undefined }
  /** `starts`: the attempt begins to run; `publishes`: it is the node's first. */
  | { readonly kind: "progress"; readonly task: TaskNodeStatus; readonly starts: boolean; readonly publishes: boolean }
  /** Write outputs too large for the status; the success is committed afterwards. */
  | ({ readonly kind: "writeOutputs"; readonly outputs: LiteralMap } & Pick<UncommittedSuccess, "value" | "deckUri" | "cleanup">)
  /** Cache the outputs; the success is committed afterwards. */
  | { readonly kind: "cacheOutputs"; readonly success: UncommittedSuccess }
  | { readonly kind: "succeed"; readonly success: Success; readonly cleanup: boolean }
  /** Run the graph that the attempt produced. */
  | { readonly kind: "runGraph"; readonly deckUri: string; readonly cleanup: boolean }
  /** The attempt has ended and another follows; `clean`: its resources are deleted first. */
  | { readonly kind: "retry"; readonly error: ExecutionErrorJson; readonly clean: boolean }
  | { readonly kind: "fail"; readonly error: ExecutionErrorJson; readonly details: FailureDetails; readonly cleanup: boolean }
  /** The attempt of a node that its own deadlines abort has ended: reconcile the node. */
  | { readonly kind: "continueAbort"; readonly cleanup: boolean }
  /** The attempt of a node that its parent aborts has ended, with the node. */
  | { readonly kind: "endAborted"; readonly reason: string; readonly cleanup: boolean }
  /** The deadline over all attempts has passed: abort the attempt, then time out. */
  | { readonly kind: "timeOut"; readonly message: string }
  /** The attempt's deadline has passed: abort it, then start another. */
  | { readonly kind: "retryAfterAbort"; readonly error: ExecutionErrorJson }
  /** The last attempt's deadline has passed: abort it, then fail. */
  | { readonly kind: "failAfterAbort"; readonly error: ExecutionErrorJson; readonly reason: string }
  | { readonly kind: "startNext" }
  | { readonly kind: "resendRun" }
  | { readonly kind: "resendAbort" }
  /** No plugin service answers the abort request: end without a report. */
  | { readonly kind: "abandon"; readonly reason: string };

/** Transition of the given kind. */
export type TransitionOf<K extends AttemptTransition["kind"]> = Extract<AttemptTransition, { kind: K }>;
