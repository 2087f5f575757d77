import type { NodeOutputs } from "../data/node-inputs.js";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { GateNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { GraphModel } from "@flyte-ts/workflow-crd";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";

/** Decision of a handler for its node. Only the engine's reconcile executes it. */
export type NodeDecision =
  /** Request an attempt from the plugin service. */
  | { readonly kind: "request" }
  /** `outputs` is undefined for a node without outputs. */
  | { readonly kind: "succeed"; readonly outputs: NodeOutputs | undefined }
  | { readonly kind: "fail"; readonly error: ExecutionErrorJson }
  /** Run one arm and skip the others. */
  | { readonly kind: "take"; readonly arm: string; readonly skipped: readonly string[] }
  /** Run a graph below the node. */
  | { readonly kind: "enter"; readonly graph: GraphModel }
  /** Run this many items below the node. */
  | { readonly kind: "enterArray"; readonly size: number }
  /** Succeed, without outputs, this long after the node started running. */
  | { readonly kind: "sleep"; readonly durationMs: number }
  /** Start a child execution, and end as it does. */
  | { readonly kind: "launch"; readonly launchPlan: Identifier }
  /** Wait until the signal has a value, then continue as the gate defines. */
  | { readonly kind: "awaitSignal"; readonly gate: GateNode; readonly signalId: string; readonly type: LiteralType | undefined }
  | { readonly kind: "wait" };
