import type { Queryable } from "@flyte-ts/postgres";
import type { AdminConfig } from "../config.js";
import { namespaceOf } from "../execution/namespace.js";
import { alreadyExists, invalidArgument } from "../invalid.js";

type Config = Pick<AdminConfig, "domains" | "namespaceTemplate">;

/**
 * Refuses a project whose executions could have the namespace or the folder of another project's. Both names join project, domain and
 * more with dashes, which all of them may contain: project `a-b` in domain `c` and project `a` in domain `b-c`. Projects that are
 * registered meanwhile wait until the transaction ends.
 *
 * @throws RpcError INVALID_ARGUMENT, or ALREADY_EXISTS for the project itself.
 */
export async function checkDistinct(tx: Queryable, id: string, config: Config): Promise<void> {
  await tx.query({ text: "SELECT pg_advisory_xact_lock(hashtext('projects'))" });
  const { rows } = await tx.query<{ identifier: string }>({ text: "SELECT identifier FROM projects ORDER BY identifier" });
  if (rows.some(({ identifier }) => identifier === id)) throw alreadyExists(`project [${id}] already exists`);
  const other = rows.find(({ identifier }) => meet(id, identifier, config))?.identifier;
  if (other === undefined) return;
  throw invalidArgument(
    `invalid project id [${id}]: its executions could have the namespace or the folder of those of project [${other}]: choose an id that differs from [${other}] by more than the name of a domain`,
  );
}

/** Whether an execution of the one project can have the namespace, or the folder of metadata, of an execution of the other. */
export function meet(one: string, other: string, config: Config): boolean {
  const pairs = config.domains.flatMap(({ id: a }) => config.domains.map(({ id: b }) => [a, b] as const));
  return pairs.some(([a, b]) => samePlace(`${one}-${a}-`, `${other}-${b}-`) || sameNamespace([one, a], [other, b], config));
}

/** Any name of an execution may follow. */
const samePlace = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

/** A template without the project gives one namespace to all on purpose. */
function sameNamespace([one, a]: readonly [string, string], [other, b]: readonly [string, string], config: Config): boolean {
  const { namespaceTemplate: template } = config;
  const tellsProjects = namespaceOf(template, "x", a) !== namespaceOf(template, "y", a);
  return tellsProjects && namespaceOf(template, one, a) === namespaceOf(template, other, b);
}
