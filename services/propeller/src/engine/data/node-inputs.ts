import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { ExecutionErrorJson } from "@flyte-ts/workflow-crd/status";

/** State of a node's inputs. */
export type NodeInputs =
  | { readonly kind: "ready"; readonly inputs: LiteralMap }
  /** Blob reads are pending; the node is reconciled again when they are done. */
  | { readonly kind: "waiting" }
  | { readonly kind: "error"; readonly error: ExecutionErrorJson };

/** Location of outputs, and their value when it is known. */
export interface NodeOutputs {
  readonly value: LiteralMap | undefined;
  readonly uri: string;
}
