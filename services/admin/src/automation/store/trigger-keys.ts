import type { Queryable } from "@flyte-ts/postgres";

/** Returns the stored key; stores the given one when there is none. */
export async function storedKey(db: Queryable, initial: Uint8Array): Promise<Uint8Array> {
  await db.query({ text: "INSERT INTO trigger_keys (key) VALUES ($1) ON CONFLICT DO NOTHING", values: [initial] });
  const { rows } = await db.query<{ key: Uint8Array }>({ text: "SELECT key FROM trigger_keys" });
  if (rows[0] === undefined) throw new Error("the key for webhook secrets is missing");
  return rows[0].key;
}
