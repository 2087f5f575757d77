import type { CatalogCacheStatus, CatalogMetadata } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { Identifier, NodeExecutionIdentifier, WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** What nodes of a recovering execution ask of the one that it recovers. */
export interface RecoveryQuestions {
  /** How the node of this id came out there; undefined when it never began. */
  readonly readFormerNode: { readonly fields: { readonly id: NodeExecutionIdentifier }; readonly value: FormerNode | undefined };
}

/** A node as it came out in the execution that is recovered. */
export interface FormerNode {
  /** It succeeded, or was itself recovered. */
  readonly succeeded: boolean;
  /** Undefined when they are not known any more. */
  readonly inputs: LiteralMap | undefined;
  /** Undefined when it gave none, or when they are not known any more. */
  readonly outputs: LiteralMap | undefined;
  /** Tasks that its attempts ran; none when it was recovered or cached itself. */
  readonly tasks: readonly Identifier[];
  /** Where its last attempt left checkpoints; empty when it left none. */
  readonly checkpointUri: string;
  readonly deckUri: string;
  readonly cacheStatus: CatalogCacheStatus;
  readonly catalogKey: CatalogMetadata | undefined;
  /** Of a launch plan node. */
  readonly childExecution: WorkflowExecutionIdentifier | undefined;
}
