import type { Queryable } from "@flyte-ts/postgres";

/** What a policy is about; empty text stands for all. */
export interface PolicyScope {
  readonly project: string;
  readonly domain: string;
  readonly workflow: string;
}

export interface Policy extends PolicyScope {
  /** Undefined: for ever. */
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

export async function dropPolicy(db: Queryable, { project, domain, workflow }: PolicyScope): Promise<void> {
  await db.query({
    name: "drop-retention-policy",
    text: "DELETE FROM retention_policies WHERE project = $1 AND domain = $2 AND workflow = $3",
    values: [project, domain, workflow],
  });
}

/** Those of a project; all when it is empty. */
export async function listPolicies(db: Queryable, project: string): Promise<readonly Policy[]> {
  const { rows } = await db.query<Row>({
    name: "list-retention-policies",
    text: `SELECT project, domain, workflow, keep_seconds FROM retention_policies WHERE $1 = '' OR project = $1 ORDER BY project, domain, workflow`,
    values: [project],
  });
  return rows.map(policyOf);
}

/** Those that may hold in a project and domain, the most specific first. */
export async function policiesFor(db: Queryable, { project, domain }: Pick<PolicyScope, "project" | "domain">): Promise<readonly Policy[]> {
  const { rows } = await db.query<Row>({
    name: "retention-policies-of-domain",
    text: `SELECT project, domain, workflow, keep_seconds FROM retention_policies
      WHERE project IN ($1, '') AND domain IN ($2, '') ORDER BY workflow DESC, project DESC, domain DESC`,
    values: [project, domain],
  });
  return rows.map(policyOf);
}

/** That of the workflow; else of project and domain; else of the project; else of the domain in all projects; else of all. */
export function policyThatHolds(policies: readonly Policy[], workflow: string): Policy | undefined {
  const own = policies.find((policy) => workflow !== "" && policy.workflow === workflow);
  return own ?? policies.find((policy) => policy.workflow === "");
}
