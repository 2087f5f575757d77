import {
  checkIdentifier,
  checkReadIdentifier,
  checkText,
  missingArgument,
  missingEntity,
  nextToken,
  planList,
  resourceListRequest,
} from "../../platform/index.js";
import { fromBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { WorkflowSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { TypedInterfaceSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceImplementation } from "@flyte-ts/rpc";
import type { RegistryDeps } from "../deps.js";
import { checkDescription } from "../store/descriptions.js";
import { listNames } from "../store/entity-names.js";
import { requireActiveProject } from "../project/require.js";
import { createWorkflowInternal, identicalWorkflow } from "./create.js";
import { findWorkflow, type ListedWorkflow, listWorkflows, workflowEntity } from "../store/workflows.js";
import { encodedTemplateOf } from "./decode-request.js";

/** Workflows: register, get, list. */
export function workflowRpcs(
  deps: Pick<RegistryDeps, "db" | "config" | "clock" | "compilerWorker">,
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
