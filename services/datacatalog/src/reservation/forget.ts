import type { Queryable } from "@flyte-ts/postgres";

/** Who holds a reservation extends it within seconds. So long after it ended its owner is dead, and nobody waits for it. */
const KEPT_MINUTES = 60;

/** Removes up to `limit` reservations that ended long ago and that nobody took over; gives how many. */
export async function forgetReservations(db: Queryable, limit: number): Promise<number> {
  // One that is taken over at this moment is locked, or ends later.
  const { count } = await db.query({
    name: "forget-reservations",
    text: `WITH ended AS MATERIALIZED (
        SELECT project, domain, name, version, tag_name FROM reservations
        WHERE expires_at <= clock_timestamp() - $1 * interval '1 minute' LIMIT $2 FOR UPDATE SKIP LOCKED
      )
      DELETE FROM reservations r USING ended WHERE r.project = ended.project AND r.domain = ended.domain AND r.name = ended.name
        AND r.version = ended.version AND r.tag_name = ended.tag_name`,
    values: [KEPT_MINUTES, limit],
  });
  return count;
}
