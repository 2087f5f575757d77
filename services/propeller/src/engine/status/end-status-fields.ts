import { fromBinary, toBinary } from "@bufbuild/protobuf";
import { isTerminalNode } from "@flyte-ts/domain/phase";
import {
  type CatalogMetadata,
  CatalogMetadataSchema,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { WorkflowExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { NodeStatus } from "@flyte-ts/workflow-crd/status";
import type { NodeCache } from "../graph/node-cache.js";

// Facts of a node's end that only its terminal event has. They stay in the status until admin has
// recorded the execution's end: an event may be lost, and its repair has only the resource.

/** Facts in the status of an ended node besides its phase, times, outputs and error. */
export type EndStatusFields = Pick<NodeStatus, "catalog" | "childExecution" | "deckUri">;

type CacheFacts = Pick<NodeCache, "status" | "key" | "reservation">;

export interface EndDetails {
  readonly cache?: CacheFacts | undefined;
  readonly childExecution?: WorkflowExecutionIdentifier | undefined;
  readonly deckUri?: string | undefined;
}

/** @param attemptDir folder of the node's current attempt. */
export function endStatusFields({ cache, childExecution, deckUri = "" }: EndDetails, attemptDir: string): EndStatusFields {
  const below = `${attemptDir}/`;
  return {
    ...(cache?.status === undefined ? {} : { catalog: catalogFact(cache.status, cache.key) }),
    ...(childExecution === undefined ? {} : { childExecution: childExecution.name }),
    ...(deckUri === "" ? {} : { deckUri: deckUri.startsWith(below) ? deckUri.slice(below.length) : deckUri }),
  };
}

function catalogFact(status: number, key: CatalogMetadata | undefined): NonNullable<NodeStatus["catalog"]> {
  return { status, ...(key && { key: Buffer.from(toBinary(CatalogMetadataSchema, key)).toString("base64") }) };
}

/** Cache facts of the terminal event. */
export function cacheOfEnd({ catalog }: NodeStatus): CacheFacts | undefined {
  if (catalog === undefined) return undefined;
  const key = catalog.key === undefined ? undefined : fromBinary(CatalogMetadataSchema, Buffer.from(catalog.key, "base64"));
  return { status: catalog.status, key, reservation: Reservation.RESERVATION_DISABLED };
}

/** Deck address in the status. */
export function deckOfEnd({ deckUri }: NodeStatus, attemptDir: string): string | undefined {
  if (deckUri === undefined) return undefined;
  return deckUri.includes("://") ? deckUri : `${attemptDir}/${deckUri}`;
}

const END_STATUS_FIELDS = ["outputs", "catalog", "childExecution", "deckUri", "startedAt", "subNodeStatus"] as const;

/**
 * Status of a node as Go Flyte leaves it: without the facts kept until the execution's end was
 * recorded. Returns the same object when there are none.
 */
export function withoutEndStatusFields(status: NodeStatus): NodeStatus {
  if (!isTerminalNode(status.phase)) return status;
  if (END_STATUS_FIELDS.every((name) => status[name] === undefined)) return status;
  const own: { -readonly [Name in keyof NodeStatus]: NodeStatus[Name] } = { ...status };
  for (const name of END_STATUS_FIELDS) delete own[name];
  return own;
}
