import type { TakenRow } from "./lease.js";
import type { Work } from "./worker.js";

/** Claims up to `limit` rows once and processes them; returns their number. */
export async function workOnce<Row extends TakenRow>({ take, carryOut }: Work<Row>, limit: number): Promise<number> {
  const rows = await take(limit, []);
  await Promise.all(rows.map(carryOut));
  return rows.length;
}
