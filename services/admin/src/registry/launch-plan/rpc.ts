import {
  alreadyExists,
  checkIdentifier,
  checkNamedEntity,
  checkReadIdentifier,
  checkText,
  identifierText,
  invalidArgument,
  type ListRequest,
  missingArgument,
  missingEntity,
  nextToken,
  notFound,
  planList,
  resourceListRequest,
} from "../../platform/index.js";
import { findActiveLaunchPlan, findLaunchPlan, launchPlanEntity, listLaunchPlans } from "../store/launch-plans.js";
import { LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { listNames } from "../store/entity-names.js";
import { requireActiveProject } from "../project/require.js";
import { findWorkflowInterface } from "../store/workflows.js";
import { activateLaunchPlan, deactivateLaunchPlan } from "./activate.js";
import { createLaunchPlanInternal } from "./create.js";

/** Launch plans: register, get, list, activate. */
export function launchPlanRpcs(deps: Pick<RegistryDeps, "db" | "config" | "clock">): ServiceImplementation<typeof AdminService> {
  const { db } = deps;

  async function list(request: ListRequest) {
    const plan = planList(launchPlanEntity, request);
    const found = await listLaunchPlans(db, plan);
    return { launchPlans: found.map(({ launchPlan }) => launchPlan), token: nextToken(plan, found.length) };
  }

  return {
    async createLaunchPlan({ id, spec }) {
      checkIdentifier(id, ResourceType.LAUNCH_PLAN);
      await requireActiveProject(deps, id.project, id.domain);
      if (spec === undefined) throw missingArgument("spec");
      if (spec.workflowId === undefined) throw missingArgument("id of spec.workflow_id");
      checkIdentifier(spec.workflowId, ResourceType.WORKFLOW);
      const workflow = await findWorkflowInterface(db, spec.workflowId);
      if (workflow === undefined) throw missingEntity("WORKFLOW", spec.workflowId);
      const { isNew } = await createLaunchPlanInternal(deps, { id, spec, workflow });
      if (!isNew) throw alreadyExists("launch plan with identical structure already exists");
      return {};
    },

    /** flytectl omits the resource type; an activation accepts any, as in Flyte. */
    async updateLaunchPlan({ id, state }) {
      checkIdentifier(id);
      switch (state) {
        case LaunchPlanState.ACTIVE:
          await activateLaunchPlan(deps, id);
          return {};
        case LaunchPlanState.INACTIVE:
          checkReadIdentifier(id, ResourceType.LAUNCH_PLAN);
          await deactivateLaunchPlan(deps, id);
          return {};
        default:
          throw invalidArgument(`Unrecognized launch plan state ${state as number} for update for launch plan [${identifierText(id)}]`);
      }
    },

    async getLaunchPlan({ id }) {
      checkReadIdentifier(id, ResourceType.LAUNCH_PLAN);
      const stored = await findLaunchPlan(db, id);
      if (stored === undefined) throw missingEntity("LAUNCH_PLAN", id);
      return stored.launchPlan;
    },

    async getActiveLaunchPlan({ id }) {
      checkNamedEntity(id);
      const stored = await findActiveLaunchPlan(db, id);
      if (stored === undefined) throw notFound(`No active launch plan could be found: ${id.project}:${id.domain}:${id.name}`);
      return stored.launchPlan;
    },

    listLaunchPlans: (request) => list(resourceListRequest("ListLaunchPlans", request)),

    listActiveLaunchPlans({ project, domain, limit, token, sortBy }) {
      checkText(project, "project");
      checkText(domain, "domain");
      const equal = { project, domain, state: LaunchPlanState.ACTIVE };
      return list({ rpc: "ListActiveLaunchPlans", filters: "", limit, token, sortBy, equal });
    },

    // Unlike those of tasks and workflows, the ids of all projects can be listed.
    listLaunchPlanIds: (request) =>
      listNames(db, { rpc: "ListLaunchPlanIds", resourceType: ResourceType.LAUNCH_PLAN, columns: launchPlanEntity.columns }, request),
  };
}
