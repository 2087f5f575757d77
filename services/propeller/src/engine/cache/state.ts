import {
  type CatalogCacheStatus,
  type CatalogMetadata,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { CachePlan } from "./plan.js";

/**
 * How far the caching of one node has come. Kept in memory only: after a restart a
 * node looks up and reserves anew, and what it stores has names of its own.
 */
export interface NodeCache {
  readonly plan: CachePlan;
  /** What node events tell; undefined while nothing was found out. */
  status: CatalogCacheStatus | undefined;
  key: CatalogMetadata | undefined;
  reservation: Reservation;
  /** The reservation is ours and to be kept. */
  holds: boolean;
  /** Looked up again since the reservation was taken. */
  confirming: boolean;
  /** It may run: the reservation is ours, or none can be had. */
  turn: boolean;
  /** How often another held the reservation. */
  waits: number;
}

export function newNodeCache(plan: CachePlan): NodeCache {
  return {
    plan,
    status: undefined,
    key: undefined,
    reservation: Reservation.RESERVATION_DISABLED,
    holds: false,
    confirming: false,
    turn: false,
    waits: 0,
  };
}
