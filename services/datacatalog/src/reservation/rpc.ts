import { create } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Duration } from "@bufbuild/protobuf/wkt";
import {
  type DataCatalog,
  type DatasetID,
  type ReservationID,
  ReservationIDSchema,
  ReservationSchema,
} from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import { checkDatasetId } from "../dataset/identifier.js";
import type { DatacatalogDeps } from "../deps.js";
import { requireNonEmpty, invalidArgument, missingArgument } from "../rpc-errors.js";

type Service = ServiceImplementation<typeof DataCatalog>;

interface Row {
  readonly owner_id: string;
  readonly expires_at: Date;
}

/**
 * RPCs of reservations: at most one owner per tag, while it extends its reservation in time. Only
 * the database's clock counts, so replicas of this service agree.
 */
export function reservationRpcs({
  db,
  config,
}: Pick<DatacatalogDeps, "db" | "config">): Pick<Service, "getOrExtendReservation" | "releaseReservation"> {
  const { heartbeatGracePeriodMultiplier, maxHeartbeatMs } = config.reservations;
  return {
    async getOrExtendReservation({ reservationId, ownerId, heartbeatInterval }) {
      checkReservation(reservationId, ownerId);
      const heartbeatMs = Math.min(maxHeartbeatMs, requested(heartbeatInterval) ?? maxHeartbeatMs);
      // Uses one statement, which locks the row while it compares the owner, so that only one of
      // any number of concurrent requests succeeds. It reads the clock before it waits for the
      // lock, which can only favor the present owner.
      const { rows } = await db.query<Row>({
        name: "get-or-extend-reservation",
        text: `INSERT INTO reservations AS held (project, domain, name, version, tag_name, owner_id, asked_at, expires_at)
          SELECT $1, $2, $3, $4, $5, $6, now, now + $7 * interval '1 millisecond' FROM (SELECT clock_timestamp() AS now) AS clock
          ON CONFLICT (project, domain, name, version, tag_name) DO UPDATE SET
            owner_id = CASE WHEN held.owner_id = excluded.owner_id OR held.expires_at <= excluded.asked_at THEN excluded.owner_id ELSE held.owner_id END,
            asked_at = CASE WHEN held.owner_id = excluded.owner_id OR held.expires_at <= excluded.asked_at THEN excluded.asked_at ELSE held.asked_at END,
            expires_at = CASE WHEN held.owner_id = excluded.owner_id OR held.expires_at <= excluded.asked_at THEN excluded.expires_at ELSE held.expires_at END
          RETURNING owner_id, expires_at`,
        values: [...key(reservationId), ownerId, heartbeatMs * heartbeatGracePeriodMultiplier],
      });
      const [row] = rows;
      if (row === undefined) throw new Error("an upsert without a condition returns its row");
      return {
        reservation: create(ReservationSchema, {
          reservationId: create(ReservationIDSchema, reservationId),
          ownerId: row.owner_id,
          heartbeatInterval: durationFromMs(heartbeatMs),
          expiresAt: timestampFromDate(row.expires_at),
        }),
      };
    },

    async releaseReservation({ reservationId, ownerId }) {
      checkReservation(reservationId, ownerId);
      // Keeps a reservation of another owner; a missing one counts as released.
      await db.query({
        name: "release-reservation",
        text: "DELETE FROM reservations WHERE project = $1 AND domain = $2 AND name = $3 AND version = $4 AND tag_name = $5 AND owner_id = $6",
        values: [...key(reservationId), ownerId],
      });
      return {};
    },
  };
}

type RequestedReservation = ReservationID & { readonly datasetId: DatasetID };

function key({ datasetId: { project, domain, name, version }, tagName }: RequestedReservation): string[] {
  return [project, domain, name, version, tagName];
}

function checkReservation(id: ReservationID | undefined, ownerId: string): asserts id is RequestedReservation {
  if (id === undefined) throw missingArgument("reservation_id");
  checkDatasetId(id.datasetId);
  requireNonEmpty(id.tagName, "tagName");
  requireNonEmpty(ownerId, "owner_id");
}

/** Requested interval, ms; undefined leaves it to the service. */
function requested(interval: Duration | undefined): number | undefined {
  if (interval === undefined) return undefined;
  const ms = durationMs(interval);
  if (ms <= 0) throw invalidArgument(`invalid value for heartbeat_interval, value:[${ms} ms]: must be greater than 0`);
  return ms;
}
