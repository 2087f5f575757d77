import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkflowExecutionIdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type {
  DeletionSchema,
  RefusalSchema,
  RetentionPolicy,
  RetentionPolicySchema,
  RetentionService,
} from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import { Code, RpcError, type ServiceImplementation } from "@flyte-ts/rpc";
import type { AutomationDeps } from "../deps.js";
import { planExecutions, type expiryQueries, executionIds, executionQueries } from "../../executions/index.js";
import { checkLimit, checkText, invalidArgument, missingArgument, selectPage } from "../../platform/index.js";
import { requireProject } from "../../registry/index.js";
import { expiredExecutions } from "./due.js";
import { type Kept, markDeletions, planDeletions, type PlannedDeletion } from "./mark.js";
import {
  deletePolicy,
  effectivePolicy,
  listPolicies,
  policiesFor,
  type Policy,
  type PolicyScope,
  setPolicy,
} from "../store/retention-policies.js";

/** Longest duration of protobuf, s. */
const MAX_DURATION_S = 315_576_000_000n;

type Deps = Pick<AutomationDeps, "db" | "config" | "clock">;

/** Retention policies and the deletion of executions. */
export function retentionRpcs({ db, config, clock }: Deps): ServiceImplementation<typeof RetentionService> {
  const { keepDays, graceSeconds } = config.retention;
  const mark = async (deletions: readonly PlannedDeletion[], requestedBy: string) => {
    const at = clock();
    const beginsAt = new Date(at.getTime() + graceSeconds * 1_000);
    await markDeletions(db, deletions, { at, beginsAt, byPolicy: false, requestedBy });
    return beginsAt;
  };
  return {
    async setRetentionPolicy({ policy }, { caller }) {
      if (policy === undefined) throw missingArgument("policy");
      checkScope(policy);
      if (policy.project !== "") await requireProject(db, policy.project);
      if (policy.domain !== "" && !config.domains.some(({ id }) => id === policy.domain)) {
        throw invalidArgument(`invalid value for domain: domain [${policy.domain}] is not configured`);
      }
      await setPolicy(db, { ...scopeOf(policy), keepSeconds: keepOf(policy) }, { at: clock(), subject: caller?.subject ?? "" });
      return {};
    },

    async deleteRetentionPolicy(scope) {
      checkScope(scope);
      await deletePolicy(db, scope);
      return {};
    },

    async getRetentionPolicy({ project, domain, workflow }) {
      checkText(project, "project");
      checkText(domain, "domain");
      if (workflow !== "") checkText(workflow, "workflow");
      const found = effectivePolicy(await policiesFor(db, { project, domain }), workflow);
      if (found !== undefined) return { policy: policyMessage(found), configured: false };
      const keepSeconds = keepDays === 0 ? undefined : BigInt(Math.round(keepDays * 86_400));
      return { policy: policyMessage({ project: "", domain: "", workflow: "", keepSeconds }), configured: true };
    },

    async listRetentionPolicies({ project }) {
      return { policies: (await listPolicies(db, project)).map(policyMessage) };
    },

    async previewRetention({ project, domain, limit }) {
      checkText(project, "project");
      checkText(domain, "domain");
      const most = checkLimit(limit);
      const deletions: PlannedDeletion[] = [];
      const kept: Kept[] = [];
      let after: expiryQueries.ExpiryCursor | undefined;
      let more = true;
      while (more && deletions.length + kept.length <= most) {
        const due = await expiredExecutions(db, config.retention, { place: { project, domain }, now: clock(), limit: most + 1, after });
        const plan = await planDeletions(
          db,
          due.map(({ id }) => id),
        );
        deletions.push(...plan.deletions);
        kept.push(...plan.kept);
        after = due.at(-1)?.after;
        more = due.length > most;
      }
      const cut = deletions.length + kept.length > most;
      const shown = deletions.slice(0, most);
      return { deletions: shown.map(deletionMessage), kept: kept.slice(0, most - shown.length).map(keptMessage), more: more || cut };
    },

    async deleteExecution({ id, dryRun }, { caller }) {
      executionIds.checkExecutionId(id);
      const rowId = await executionQueries.findExecutionId(db, id);
      if (rowId === undefined) throw executionIds.executionNotFound(id);
      const { deletions, kept } = await planDeletions(db, [rowId]);
      if (kept[0] !== undefined) throw new RpcError(Code.FAILED_PRECONDITION, kept[0].reason);
      const [deletion] = deletions;
      if (deletion === undefined) throw executionIds.executionNotFound(id);
      if (dryRun) return { deletion: deletionMessage(deletion) };
      return { deletion: deletionMessage(deletion), beginsAt: timestampFromDate(await mark(deletions, caller?.subject ?? "")) };
    },

    async deleteExecutions({ project, domain, filters, limit, dryRun }, { caller }) {
      checkText(project, "project");
      checkText(domain, "domain");
      checkText(filters, "filters");
      const most = checkLimit(limit);
      const plan = await planExecutions(db, {
        rpc: "DeleteExecutions",
        filters,
        limit: most + 1,
        token: "",
        equal: { execution_project: project, execution_domain: domain },
      });
      const { rows } = await db.query<{ id: bigint }>(selectPage(plan, "executions.id"));
      const { deletions, kept } = await planDeletions(
        db,
        rows.slice(0, most).map(({ id }) => id),
      );
      if (!dryRun) await mark(deletions, caller?.subject ?? "");
      return { deletions: deletions.map(deletionMessage), kept: kept.map(keptMessage), more: rows.length > most };
    },
  };
}

const scopeOf = ({ project, domain, workflow }: PolicyScope): PolicyScope => ({ project, domain, workflow });

function checkScope({ project, domain, workflow }: PolicyScope): void {
  for (const [name, value] of Object.entries({ project, domain, workflow })) if (value !== "") checkText(value, name);
  if (workflow !== "" && (project === "" || domain === "")) {
    throw invalidArgument("invalid value for workflow: requires project and domain");
  }
}

function keepOf({ keep }: RetentionPolicy): bigint | undefined {
  if (keep === undefined) return undefined;
  if (keep.seconds <= 0n || keep.seconds > MAX_DURATION_S || keep.nanos !== 0)
    throw invalidArgument(`invalid value for keep: whole seconds, from 1 to ${MAX_DURATION_S}`);
  return keep.seconds;
}

function policyMessage({ project, domain, workflow, keepSeconds }: Policy): MessageInitShape<typeof RetentionPolicySchema> {
  if (keepSeconds === undefined) return { project, domain, workflow };
  // JSON of a longer duration cannot be written: a setting, or a policy of an earlier version.
  const seconds = keepSeconds < MAX_DURATION_S ? keepSeconds : MAX_DURATION_S;
  return { project, domain, workflow, keep: { seconds, nanos: 0 } };
}

const idMessage = ({ project, domain, name }: executionIds.ExecutionName): MessageInitShape<typeof WorkflowExecutionIdentifierSchema> => ({
  project,
  domain,
  name,
});

function deletionMessage({ root, launched, keepsRawOutputs }: PlannedDeletion): MessageInitShape<typeof DeletionSchema> {
  return { id: idMessage(root), launched: launched.map(idMessage), keepsRawOutputs };
}

function keptMessage({ root, reason }: Kept): MessageInitShape<typeof RefusalSchema> {
  return { id: idMessage(root), reason };
}
