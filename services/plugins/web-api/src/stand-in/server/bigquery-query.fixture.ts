import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";

/** A named parameter of a query. */
export interface QueryParameter {
  readonly name: string;
  readonly parameterType: { readonly type: string };
  readonly parameterValue: { readonly value?: string };
}

/** Columns and rows as BigQuery answers them. */
export interface Table {
  readonly schema: { readonly fields: readonly { readonly name: string; readonly type: string; readonly mode: "NULLABLE" }[] };
  readonly rows: readonly { readonly f: readonly { readonly v: string | null }[] }[];
  readonly numRows: string;
}

/** An error that BigQuery answers with a status. */
export class BigQueryFailure extends Error {
  constructor(
    readonly status: number,
    readonly reason: string,
    message: string,
  ) {
    super(message);
  }
}

/** Tables in SQLite; their names have a project and a dataset. */
export interface Tables {
  readonly database: DatabaseSync;
  parse(query: string): { readonly syntaxError?: string };
  read(name: string): Table | undefined;
}

export function tablesOf(): Tables {
  const database = new DatabaseSync(":memory:");
  return {
    database,
    parse: (query) => {
      try {
        database.prepare(query);
        return {};
      } catch (error) {
        return { syntaxError: `Syntax error: ${(error as Error).message}` };
      }
    },
    read: (name) => {
      if (database.prepare("SELECT 1 FROM sqlite_master WHERE name = ?").get(name) === undefined) return undefined;
      const rows = database.prepare(`SELECT * FROM "${name}"`).all();
      const columns = database.prepare(`SELECT name, type FROM pragma_table_info(?)`).all(name) as { name: string; type: string }[];
      return {
        schema: { fields: columns.map((column) => ({ name: column.name, type: typeOf(column.type), mode: "NULLABLE" })) },
        rows: rows.map((row) => ({ f: columns.map((column) => ({ v: textOf(row[column.name]) })) })),
        numRows: String(rows.length),
      };
    },
  };
}

/** Writes the rows of a query to a table; returns the error of a query that fails. */
export function runQuery(
  { database }: Tables,
  {
    query,
    queryParameters,
    table,
  }: { readonly query: string; readonly queryParameters: readonly QueryParameter[]; readonly table: string },
): { readonly reason: string; readonly message: string } | undefined {
  const values = Object.fromEntries(queryParameters.map((parameter) => [parameter.name, valueOf(parameter)]));
  try {
    database.prepare(`CREATE TABLE "${table}" AS ${query}`).run(values);
    return undefined;
  } catch (error) {
    return { reason: "invalidQuery", message: (error as Error).message };
  }
}

function valueOf({ parameterType, parameterValue: { value = "" } }: QueryParameter): SQLInputValue {
  switch (parameterType.type) {
    case "INT64":
      return BigInt(value);
    case "FLOAT64":
      return Number(value);
    case "BOOL":
      return value === "true" ? 1 : 0;
    default:
      return value;
  }
}

function typeOf(type: string): string {
  if (/INT/i.test(type)) return "INTEGER";
  return /REAL|NUM/i.test(type) ? "FLOAT" : "STRING";
}

function textOf(value: SQLOutputValue | undefined): string | null {
  return value === undefined || typeof value === "object" ? null : String(value);
}
