import { DatabaseSync, type SQLOutputValue } from "node:sqlite";

/** A query failed by its own fault. */
export class QueryError extends Error {}

/** Tables of Athena's only schema, `db`. */
export class AthenaTables {
  readonly database = new DatabaseSync(":memory:");

  constructor() {
    this.database.exec("ATTACH ':memory:' AS db");
  }

  /** Runs a query; returns its rows as Athena's CSV. @throws QueryError */
  run(query: string, schema: string): Uint8Array {
    if (schema !== "db") throw new QueryError(`SCHEMA_NOT_FOUND: line 1:15: Schema '${schema}' does not exist`);
    try {
      const statement = this.database.prepare(query);
      const columns = statement.columns().map(({ name }) => name);
      const rows = statement.all();
      return Buffer.from([columns, ...rows.map((row) => columns.map((name) => row[name] ?? null))].map(line).join(""));
    } catch (error) {
      throw new QueryError(`SYNTAX_ERROR: line 1:1: ${(error as Error).message}`);
    }
  }
}

/** Athena quotes all values; NULL is empty. */
function line(values: readonly SQLOutputValue[]): string {
  const texts = values.map((value) => (typeof value === "object" ? "" : `"${String(value).replaceAll('"', '""')}"`));
  return `${texts.join(",")}\n`;
}
