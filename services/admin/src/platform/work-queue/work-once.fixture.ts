import type { ClaimedRow } from "./lease.js";
import type { QueueHandler } from "./worker.js";

/** Claims up to `limit` rows once and processes them; returns their number. */
export async function workOnce<Row extends ClaimedRow>({ claim, process }: QueueHandler<Row>, limit: number): Promise<number> {
  const rows = await claim(limit, []);
  await Promise.all(rows.map(process));
  return rows.length;
}
