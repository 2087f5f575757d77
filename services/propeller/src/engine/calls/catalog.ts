import type { CacheKey } from "@flyte-ts/domain/catalog";
import type { CatalogMetadata } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { Identifier, TaskExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";

/** Calls to the data catalog. */
export interface CatalogCalls {
  /** Outputs of an earlier call; undefined when there are none. */
  readonly catalogGet: {
    readonly fields: { readonly call: CacheKey; readonly task: Identifier };
    readonly value: CachedOutputs | undefined;
  };
  /** Acquires or extends the reservation, or reports that another owner holds it. */
  readonly catalogReserve: {
    readonly fields: { readonly call: CacheKey; readonly owner: string; readonly heartbeatMs: number };
    readonly value: { readonly held: "byUs"; readonly heartbeatMs: number } | { readonly held: "byAnother" };
  };
  readonly catalogRelease: {
    readonly fields: { readonly call: CacheKey; readonly owner: string };
    readonly value: "released";
  };
  /** Stores outputs for later calls, then releases the reservation. Idempotent. */
  readonly catalogPut: {
    readonly fields: {
      readonly call: CacheKey;
      readonly source: TaskExecutionIdentifier;
      readonly artifactId: string;
      readonly outputs: { readonly value: LiteralMap | undefined; readonly uri: string };
      /** Replaces existing outputs. */
      readonly overwrite: boolean;
      /** Owner of the reservation to release; undefined when there is none. */
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
