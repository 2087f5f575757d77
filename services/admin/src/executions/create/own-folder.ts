import type { Queryable } from "@flyte-ts/postgres";
import type { ExecutionsConfig } from "../config.js";
import { invalidArgument } from "../../platform/index.js";
import { existingProjects } from "../../registry/index.js";
import type { ExecutionName } from "../model/identifier.js";

/** Project and domain of an execution that could have the same folder. */
interface ProjectDomain {
  readonly project: string;
  readonly domain: string;
}

/**
 * Rejects a name with which an execution would write to the folder of another project's execution.
 * Propeller's folder of an execution joins project, domain and name with dashes, as in Flyte:
 * `development-x` of project `lab` has the same folder as `x` of project `lab-development`. The
 * longer project and domain own the folder; at equal length, the longer project.
 *
 * @throws RpcError INVALID_ARGUMENT that names the other project and domain.
 */
export async function checkOwnFolder(db: Queryable, id: ExecutionName, { domains }: Pick<ExecutionsConfig, "domains">): Promise<void> {
  const others = collidingProjectDomains(
    id,
    domains.map((domain) => domain.id),
  );
  if (others.length === 0) return;
  const existing = await existingProjects(
    db,
    others.map(({ project }) => project),
  );
  const owner = others.find(({ project }) => existing.has(project));
  if (owner === undefined) return;
  throw invalidArgument(
    `invalid execution name [${id.name}]: its folder would be that of an execution of project [${owner.project}] and domain [${owner.domain}]`,
  );
}

/** Returns the other projects and domains that own the same folder. Usually there are none. */
export function collidingProjectDomains({ project, domain, name }: ExecutionName, domains: readonly string[]): ProjectDomain[] {
  const folder = `${project}-${domain}-${name}`;
  const others: ProjectDomain[] = [];
  for (let dash = folder.indexOf("-"); dash !== -1; dash = folder.indexOf("-", dash + 1)) {
    const rest = folder.slice(dash + 1);
    for (const other of domains) {
      const more = dash + other.length - project.length - domain.length;
      const owns = more > 0 || (more === 0 && dash > project.length);
      if (owns && rest.startsWith(`${other}-`) && rest.length > other.length + 1)
        others.push({ project: folder.slice(0, dash), domain: other });
    }
  }
  return others;
}
