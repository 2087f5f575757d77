import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Queryable } from "@flyte-ts/postgres";
import { schemaText } from "./schema-text.js";

export interface SchemaSnapshot {
  /** The schema that the migrations gave. */
  readonly schema: string;
  /** What is written down beside them; empty when nothing is. */
  readonly written: string;
  /** What to tell whoever finds them different. */
  readonly hint: string;
}

/** The schema of a database and `schema.snapshot` of its folder of migrations, which `UPDATE_SNAPSHOT=1` writes anew. */
export async function schemaSnapshot(db: Queryable, directory: string): Promise<SchemaSnapshot> {
  const file = join(directory, "schema.snapshot");
  const schema = await schemaText(db);
  if (process.env.UPDATE_SNAPSHOT === "1") writeFileSync(file, schema);
  return {
    schema,
    written: existsSync(file) ? readFileSync(file, "utf8") : "",
    hint: `The migrations give another schema than ${file} tells. A file that has landed is never changed: add the next number. After a new one run this test with UPDATE_SNAPSHOT=1.`,
  };
}
