import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd";

/** How far the inputs of a node are known. */
export type NodeInputs =
  | { readonly kind: "ready"; readonly inputs: LiteralMap }
  /** Blobs were asked for; the node is looked at again when they are there. */
  | { readonly kind: "waiting" }
  | { readonly kind: "error"; readonly error: ExecutionErrorJson };
