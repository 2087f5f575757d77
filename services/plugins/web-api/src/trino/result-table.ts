import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";

/** Place of the tables that hold results while a query writes them. */
export interface ResultTableSettings {
  /** Catalog of a Hive connector that may write at any location. */
  readonly resultCatalog: string;
  readonly resultSchema: string;
}

/** Qualified name of the attempt's table. */
export function resultTable({ generatedName, owner }: TaskRequest, { resultCatalog, resultSchema }: ResultTableSettings): string {
  // Includes the owner's uid, since the name of a deleted execution may be used again.
  const name = `flyte_${generatedName}_${(owner?.uid ?? "").slice(0, 8)}`.replace(/[^a-zA-Z0-9_]+/g, "_").toLowerCase();
  return [resultCatalog, resultSchema, name].map(quoted).join(".");
}

/** Wraps a query so that its rows are written as Parquet at an address. */
export function createTableStatement(table: string, query: string, uri: string): string {
  const select = query.trim().replace(/;+$/, "");
  return `CREATE TABLE ${table} WITH (format = 'PARQUET', external_location = '${uri.replaceAll("'", "''")}') AS (${select}\n)`;
}

/** Removes the table; the files at an external location stay. */
export function dropTableStatement(table: string): string {
  return `DROP TABLE IF EXISTS ${table}`;
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
