import type { Queryable } from "@flyte-ts/postgres";
import type { ListPlan } from "../../platform/list-query/plan.js";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkflowSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { AdminDeps } from "../../deps.js";
import { checkDescription } from "../store/descriptions.js";
import { checkIdentifier, checkReadIdentifier, checkText } from "../../platform/identifiers.js";
import { missingEntity } from "../../platform/missing-entity.js";
import { missingArgument } from "../../platform/rpc-errors.js";
import { planList, selectPage } from "../../platform/list-query/plan.js";
import { resourceListRequest } from "../../platform/list-query/resource-list.js";
import { nextToken } from "../../platform/list-query/token.js";
import { listNames } from "../store/entity-names.js";
import { requireActiveProject } from "../project/require.js";
import { createWorkflowInternal, identicalWorkflow } from "./create.js";
import { findWorkflow } from "../store/workflows.js";
import { workflowEntity } from "../store/workflow-list-entity.js";
import { encodedTemplateOf } from "./decode-request.js";

export interface ListedWorkflow {
  project: string;
  domain: string;
  name: string;
  version: string;
  typed_interface: Uint8Array;
  short_description: string;
  created_at: Date;
}

/** Workflows: register, get, list. */
export function workflowRpcs(
  deps: Pick<AdminDeps, "db" | "config" | "clock" | "compilerWorker">,
): ServiceImplementation<typeof AdminService> {
  const { db } = deps;
  return {
    async createWorkflow({ id, spec }) {
      checkIdentifier(id, ResourceType.WORKFLOW);
      await requireActiveProject(deps, id.project, id.domain);
      if (spec?.template === undefined) throw missingArgument("spec");
      checkDescription(spec.description);
      const template = { ...spec.template, id };
      const { isNew } = await createWorkflowInternal(deps, {
        id,
        template,
        subWorkflows: spec.subWorkflows,
        description: spec.description,
        encodedTemplate: encodedTemplateOf(spec.template),
      });
      if (!isNew) throw identicalWorkflow(id);
      return {};
    },

    async getWorkflow({ id }) {
      checkReadIdentifier(id, ResourceType.WORKFLOW);
      const workflow = await findWorkflow(db, id);
      if (workflow === undefined) throw missingEntity("WORKFLOW", id);
      const { project, domain, name, version } = id;
      return {
        id: { resourceType: ResourceType.WORKFLOW, project, domain, name, version },
        closure: { compiledWorkflow: workflow.closure, createdAt: timestampFromDate(workflow.createdAt) },
        shortDescription: workflow.shortDescription,
      };
    },

    /** Omits everything of the closures except the interface; GetWorkflow returns the whole. */
    async listWorkflows(request) {
      const plan = planList(workflowEntity, resourceListRequest("ListWorkflows", request));
      const rows = await listWorkflows(db, plan);
      return { workflows: rows.map(workflowMessage), token: nextToken(plan, rows.length) };
    },

    listWorkflowIds(request) {
      checkText(request.project, "project");
      checkText(request.domain, "domain");
      return listNames(db, { rpc: "ListWorkflowIds", resourceType: ResourceType.WORKFLOW, columns: workflowEntity.columns }, request);
    },
  };
}

function workflowMessage(row: ListedWorkflow): MessageInitShape<typeof WorkflowSchema> {
  const { project, domain, name, version } = row;
  return {
    id: { resourceType: ResourceType.WORKFLOW, project, domain, name, version },
    closure: {
      compiledWorkflow: { primary: { template: { interface: fromBinary(TypedInterfaceSchema, row.typed_interface) } } },
      createdAt: timestampFromDate(row.created_at),
    },
    shortDescription: row.short_description,
  };
}

/** Reads no closures: those of a page could be large. */
async function listWorkflows(db: Queryable, plan: ListPlan): Promise<readonly ListedWorkflow[]> {
  const columns = "project, domain, name, version, typed_interface, short_description, created_at";
  return (await db.query<ListedWorkflow>(selectPage(plan, columns))).rows;
}
