import { type ConcurrencyPolicy, ConcurrencyLimitBehavior } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { alreadyExists } from "../../../platform/index.js";

/** True when the policy sets a limit. */
export function isLimited(policy: ConcurrencyPolicy | undefined): policy is ConcurrencyPolicy {
  return policy?.behavior === ConcurrencyLimitBehavior.SKIP;
}

/**
 * Enforces the concurrency policy of a launch plan over the executions of all its versions. Call it
 * in the transaction that stores the execution: a lock serializes concurrent requests, so that two
 * cannot both take the last slot. Every non-terminal execution counts.
 *
 * @throws RpcError ALREADY_EXISTS when the limit is reached and the policy is to skip.
 */
export async function checkConcurrency(tx: Queryable, id: Identifier, policy: ConcurrencyPolicy): Promise<void> {
  await tx.query({
    name: "lock-launch-plan",
    text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 7031990417))",
    values: [`${id.project}\n${id.domain}\n${id.name}`],
  });
  const { rows } = await tx.query<{ count: bigint }>({
    name: "count-open-executions",
    text: `SELECT count(*) FROM executions
      WHERE execution_project = $1 AND execution_domain = $2 AND launch_plan_name = $3
        AND phase NOT IN ('SUCCEEDED', 'FAILED', 'ABORTED', 'TIMED_OUT')`,
    values: [id.project, id.domain, id.name],
  });
  if ((rows[0]?.count ?? 0n) >= BigInt(policy.max)) {
    throw alreadyExists(`concurrency limit (${policy.max}) reached for launch plan ${id.name}; skipping execution`);
  }
}
