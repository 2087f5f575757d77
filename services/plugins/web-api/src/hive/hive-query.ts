import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { badTask } from "../task/bad-task.js";
import { queryTask } from "../task/query-task.js";
import { declaresResults } from "../task/result-outputs.js";
import { resultStatement } from "./sql/result-statement.js";
import { splitStatements } from "./sql/scan.js";

export interface HiveQuerySettings {
  /** Scheme with which the server reaches addresses that begin with `s3://`. */
  readonly s3Scheme: string;
  /** Configuration of every session. */
  readonly configuration: Readonly<Record<string, string>>;
  /** Configuration key that is set to the attempt's name; empty: none. */
  readonly tagKey: string;
}

export interface HiveQuery {
  /** Statements, to be run one after the other in one session. */
  readonly statements: readonly string[];
  /** Configuration of the session, as TOpenSessionReq defines it. */
  readonly configuration: Readonly<Record<string, string>>;
}

/** Maximum number of statements of a query. */
const MAX_STATEMENTS = 1_000;

/**
 * Reads the query of a `hive` task. When the task declares results and the last statement returns
 * rows, they are written as Parquet to the raw output prefix; other statements write there
 * themselves, as those of flytekit's HiveSelectTask do.
 *
 * @throws PermanentFailure without a statement or database.
 */
export function hiveQuery(request: TaskRequest, render: (text: string) => string, settings: HiveQuerySettings): HiveQuery {
  const address = request.rawOutputPrefix.replace(/^s3:/, `${settings.s3Scheme}:`);
  // Statements name the address by which the server reaches it.
  const task = queryTask(request.template, (text) => replaceAddress(render(text), request.rawOutputPrefix, address));
  const parts = splitStatements(task.statement);
  const last = parts.at(-1);
  if (last === undefined) throw badTask("the query has no statement");
  if (parts.length > MAX_STATEMENTS) throw badTask(`the query has ${parts.length} statements; ${MAX_STATEMENTS} are allowed`);
  const wrapped = declaresResults(request) ? resultStatement(last, address) : undefined;
  const statements = [...parts.slice(0, -1).map(({ text }) => text), wrapped ?? last.text];
  return { statements, configuration: { ...configurationOf(request, settings), "use:database": task.database } };
}

function replaceAddress(text: string, from: string, to: string): string {
  return from === "" || from === to ? text : text.replaceAll(from, () => to);
}

function configurationOf({ generatedName }: TaskRequest, { configuration, tagKey }: HiveQuerySettings): Record<string, string> {
  const values = { ...configuration, ...(tagKey !== "" && { [tagKey]: generatedName }) };
  const entries = Object.entries(values).map(([key, value]) => [`set:hiveconf:${key}`, value] as const);
  return { ...Object.fromEntries(entries), "set:hivevar:flyte_attempt": generatedName };
}
