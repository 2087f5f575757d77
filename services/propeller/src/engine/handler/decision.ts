import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { GateNode } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { ExecutionErrorJson, GraphModel } from "@flyte-ts/workflow-crd";

/** Where outputs stand, and their value when it is known. */
export interface NodeOutputs {
  readonly value: LiteralMap | undefined;
  readonly uri: string;
}

/** What a handler wants for its node. The walk alone carries it out. */
export type NodeDecision =
  /** Have the plugin service run an attempt. */
  | { readonly kind: "request" }
  /** `outputs` is undefined for a node that names none. */
  | { readonly kind: "succeed"; readonly outputs: NodeOutputs | undefined }
  | { readonly kind: "fail"; readonly error: ExecutionErrorJson }
  /** Let one arm run and skip the others. */
  | { readonly kind: "take"; readonly arm: string; readonly skipped: readonly string[] }
  /** Run a graph below the node. */
  | { readonly kind: "enter"; readonly graph: GraphModel }
  /** Run so many items below the node. */
  | { readonly kind: "enterArray"; readonly size: number }
  /** Succeed, without outputs, when this time has passed since the node began to run. */
  | { readonly kind: "sleep"; readonly durationMs: number }
  /** Start an execution of its own, and end as it does. */
  | { readonly kind: "launch"; readonly launchPlan: Identifier }
  /** Wait until the signal has a value, and go on as the gate says. */
  | { readonly kind: "awaitSignal"; readonly gate: GateNode; readonly signalId: string; readonly type: LiteralType | undefined }
  | { readonly kind: "wait" };
