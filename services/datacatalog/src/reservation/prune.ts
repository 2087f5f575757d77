import type { Queryable } from "@flyte-ts/postgres";

/**
 * Time for which an expired reservation is kept, min. Owners extend within seconds: after this time
 * the owner has exited, and no other client waits for the reservation.
 */
const RETENTION_MINUTES = 60;

/**
 * Deletes up to `limit` reservations that ended long ago without a new owner; returns their number.
 */
export async function pruneReservations(db: Queryable, limit: number): Promise<number> {
  // Skips a reservation that is being taken over: its row is locked, or expires later.
  const { rowCount } = await db.query({
    name: "forget-reservations",
    text: `WITH ended AS MATERIALIZED (
        SELECT project, domain, name, version, tag_name FROM reservations
        WHERE expires_at <= clock_timestamp() - $1 * interval '1 minute' LIMIT $2 FOR UPDATE SKIP LOCKED
      )
      DELETE FROM reservations r USING ended WHERE r.project = ended.project AND r.domain = ended.domain AND r.name = ended.name
        AND r.version = ended.version AND r.tag_name = ended.tag_name`,
    values: [RETENTION_MINUTES, limit],
  });
  return rowCount;
}
