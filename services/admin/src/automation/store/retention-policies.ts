import type { Queryable } from "@flyte-ts/postgres";

/** Scope of a policy; an empty text matches all. */
export interface PolicyScope {
  readonly project: string;
  readonly domain: string;
  readonly workflow: string;
}

export interface Policy extends PolicyScope {
  /** Undefined: unlimited. */
  readonly keepSeconds: bigint | undefined;
}

interface Row extends PolicyScope {
  keep_seconds: bigint | null;
}

const policyOf = ({ project, domain, workflow, keep_seconds: keep }: Row): Policy => ({
  project,
  domain,
  workflow,
  keepSeconds: keep ?? undefined,
});

export async function setPolicy(db: Queryable, policy: Policy, by: { readonly at: Date; readonly subject: string }): Promise<void> {
  await db.query({
    name: "set-retention-policy",
    text: `INSERT INTO retention_policies (project, domain, workflow, keep_seconds, updated_at, updated_by) VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (project, domain, workflow) DO UPDATE
        SET keep_seconds = EXCLUDED.keep_seconds, updated_at = EXCLUDED.updated_at, updated_by = EXCLUDED.updated_by`,
    values: [policy.project, policy.domain, policy.workflow, policy.keepSeconds ?? null, by.at, by.subject],
  });
}

export async function deletePolicy(db: Queryable, { project, domain, workflow }: PolicyScope): Promise<void> {
  await db.query({
    name: "drop-retention-policy",
    text: "DELETE FROM retention_policies WHERE project = $1 AND domain = $2 AND workflow = $3",
    values: [project, domain, workflow],
  });
}

/** Lists the policies of a project; all when it is empty. */
export async function listPolicies(db: Queryable, project: string): Promise<readonly Policy[]> {
  const { rows } = await db.query<Row>({
    name: "list-retention-policies",
    text: `SELECT project, domain, workflow, keep_seconds FROM retention_policies WHERE $1 = '' OR project = $1 ORDER BY project, domain, workflow`,
    values: [project],
  });
  return rows.map(policyOf);
}

/** Lists the policies that may apply in a project and domain, most specific first. */
export async function policiesFor(db: Queryable, { project, domain }: Pick<PolicyScope, "project" | "domain">): Promise<readonly Policy[]> {
  const { rows } = await db.query<Row>({
    name: "retention-policies-of-domain",
    text: `SELECT project, domain, workflow, keep_seconds FROM retention_policies
      WHERE project IN ($1, '') AND domain IN ($2, '') ORDER BY workflow DESC, project DESC, domain DESC`,
    values: [project, domain],
  });
  return rows.map(policyOf);
}

/**
 * Returns the applicable policy: the workflow's; else that of project and domain; else the
 * project's; else that of the domain in all projects; else the global one.
 */
export function effectivePolicy(policies: readonly Policy[], workflow: string): Policy | undefined {
  const own = policies.find((policy) => workflow !== "" && policy.workflow === workflow);
  return own ?? policies.find((policy) => policy.workflow === "");
}
