import type { CatalogCacheStatus, CatalogMetadata } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { Identifier, NodeExecutionIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** Calls of a recovering execution about the one that it recovers. */
export interface RecoveryCalls {
  /** Returns the outcome of the node with this id; undefined when it never started. */
  readonly readPriorNode: { readonly fields: { readonly id: NodeExecutionIdentifier }; readonly value: PriorNode | undefined };
}

/** Outcome of a node in the recovered execution. */
export interface PriorNode {
  /** True when the node succeeded, or was itself recovered. */
  readonly succeeded: boolean;
  /** Undefined when the inputs are no longer available. */
  readonly inputs: LiteralMap | undefined;
  /** Undefined when there were no outputs, or they are no longer available. */
  readonly outputs: LiteralMap | undefined;
  /** Tasks that the node's attempts ran; none when it was itself recovered or cached. */
  readonly tasks: readonly Identifier[];
  /** Checkpoint location of the node's last attempt; empty when there is none. */
  readonly checkpointUri: string;
  readonly deckUri: string;
  readonly cacheStatus: CatalogCacheStatus;
  readonly catalogKey: CatalogMetadata | undefined;
  /** Set for a launch plan node. */
  readonly childExecution: WorkflowExecutionIdentifier | undefined;
}
