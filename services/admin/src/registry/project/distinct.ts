import type { Queryable } from "@flyte-ts/postgres";
import type { RegistryConfig } from "../config.js";
import { alreadyExists, invalidArgument, namespaceOf } from "../../platform/index.js";
import { lockProjects } from "../store/projects.js";

type Config = Pick<RegistryConfig, "domains" | "namespaceTemplate">;

/**
 * Rejects a project with a namespace of another project. The template joins project and domain,
 * usually with a dash, which both may contain: project `a-b` in domain `c` and project `a` in
 * domain `b-c`. Concurrent registrations wait until the transaction ends.
 *
 * @throws RpcError INVALID_ARGUMENT, or ALREADY_EXISTS for the project itself.
 */
export async function checkDistinct(tx: Queryable, id: string, config: Config): Promise<void> {
  const existing = await lockProjects(tx);
  if (existing.includes(id)) throw alreadyExists(`project [${id}] already exists`);
  for (const identifier of existing) {
    const namespace = commonNamespace(id, identifier, config);
    if (namespace !== undefined)
      throw invalidArgument(`invalid project id [${id}]: project [${identifier}] already has its namespace [${namespace}]`);
  }
}

/**
 * Returns a namespace that two projects share. A template without the project shares namespaces
 * intentionally.
 */
export function commonNamespace(one: string, other: string, { domains, namespaceTemplate: template }: Config): string | undefined {
  const namespaces = (project: string) => domains.map(({ id }) => namespaceOf(template, project, id));
  if (domains.some(({ id }) => namespaceOf(template, "x", id) === namespaceOf(template, "y", id))) return undefined;
  const others = new Set(namespaces(other));
  return namespaces(one).find((each) => others.has(each));
}
