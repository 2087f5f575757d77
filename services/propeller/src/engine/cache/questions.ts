import type { CachedCall } from "@flyte-ts/domain";
import type { CatalogMetadata } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { Identifier, TaskExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** What nodes ask the data catalog. */
export interface CatalogQuestions {
  /** The outputs that an earlier call left; undefined when there are none. */
  readonly catalogGet: {
    readonly fields: { readonly call: CachedCall; readonly task: Identifier };
    readonly value: CachedOutputs | undefined;
  };
  /** The right to compute: taken, kept, or held by another. */
  readonly catalogReserve: {
    readonly fields: { readonly call: CachedCall; readonly owner: string; readonly heartbeatMs: number };
    readonly value: { readonly held: "byUs"; readonly heartbeatMs: number } | { readonly held: "byAnother" };
  };
  readonly catalogRelease: {
    readonly fields: { readonly call: CachedCall; readonly owner: string };
    readonly value: "released";
  };
  /** Leaves outputs for later calls, then lets the reservation go. Done twice it is the same as once. */
  readonly catalogPut: {
    readonly fields: {
      readonly call: CachedCall;
      readonly source: TaskExecutionIdentifier;
      readonly artifactId: string;
      readonly outputs: { readonly value: LiteralMap | undefined; readonly uri: string };
      /** In the place of what is there. */
      readonly overwrite: boolean;
      /** Whose reservation to let go; undefined when there is none. */
      readonly owner: string | undefined;
    };
    readonly value: CatalogMetadata;
  };
}

export interface CachedOutputs {
  readonly outputs: LiteralMap;
  /** ms. */
  readonly createdAt: number;
  readonly key: CatalogMetadata;
}
