import {
  type CatalogCacheStatus,
  type CatalogMetadata,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import type { CachePlan } from "./plan.js";

/**
 * Progress of one node's caching. In memory only: after a restart a node repeats lookup and reservation, and stored
 * outputs have derived names.
 */
export interface NodeCache {
  readonly plan: CachePlan;
  /** Status for node events; undefined before the lookup. */
  status: CatalogCacheStatus | undefined;
  key: CatalogMetadata | undefined;
  reservation: Reservation;
  /** This node holds the reservation and sends heartbeats. */
  holds: boolean;
  /** The lookup was repeated after the reservation was acquired. */
  confirming: boolean;
  /** The node may compute: it holds the reservation, or none is available. */
  turn: boolean;
  /** Number of tries in which another owner held the reservation. */
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
