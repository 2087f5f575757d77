import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Queryable } from "@flyte-ts/postgres";
import { schemaText } from "./schema-text.js";

export interface SchemaSnapshot {
  /** The schema after all migrations. */
  readonly schema: string;
  /** The committed snapshot; empty when there is none. */
  readonly committed: string;
  /** Hint for the developer when they differ. */
  readonly hint: string;
}

/**
 * Returns the schema of a database and `schema.snapshot` of its migrations folder, which
 * `UPDATE_SNAPSHOT=1` rewrites.
 */
export async function schemaSnapshot(db: Queryable, directory: string): Promise<SchemaSnapshot> {
  const file = join(directory, "schema.snapshot");
  const schema = await schemaText(db);
  if (process.env.UPDATE_SNAPSHOT === "1") writeFileSync(file, schema);
  return {
    schema,
    committed: existsSync(file) ? readFileSync(file, "utf8") : "",
    hint: `The migrations give another schema than ${file} tells. A file that has landed is never changed: add the next number. After a new one run this test with UPDATE_SNAPSHOT=1.`,
  };
}
