import type { CacheKey } from "@flyte-ts/domain/catalog";
import {
  type CatalogCacheStatus,
  type CatalogMetadata,
  CatalogReservation_Status as Reservation,
} from "@flyte-ts/idl/flyteidl/core/catalog_pb";

/** Cache behavior of one call. */
export interface CachePlan {
  readonly call: CacheKey;
  /** Lets one of several equal calls compute, while the others wait for it. */
  readonly serialize: boolean;
  /** Skips the lookup and replaces cached outputs. */
  readonly overwrite: boolean;
}

/**
 * Progress of one node's caching. In memory only: after a restart a node repeats lookup and
 * reservation, and stored outputs have derived names.
 */
export interface NodeCache {
  readonly plan: CachePlan;
  /** Status for node events; undefined before the lookup. */
  status: CatalogCacheStatus | undefined;
  key: CatalogMetadata | undefined;
  reservation: Reservation;
  /** This node holds the reservation and sends heartbeats. */
  holdsReservation: boolean;
  /** The lookup was repeated after the reservation was acquired. */
  recheckedAfterReserve: boolean;
  /** The node may compute: it holds the reservation, or none is available. */
  mayCompute: boolean;
  /** Number of tries in which another owner held the reservation. */
  reserveAttempts: number;
}

export function newNodeCache(plan: CachePlan): NodeCache {
  return {
    plan,
    status: undefined,
    key: undefined,
    reservation: Reservation.RESERVATION_DISABLED,
    holdsReservation: false,
    recheckedAfterReserve: false,
    mayCompute: false,
    reserveAttempts: 0,
  };
}
