import { type ListEntity, versionedColumns } from "../../platform/list-query/entity.js";
import { workflowEntity } from "./workflow-list-entity.js";

/** Filters and sort keys of ListLaunchPlans. */
export const launchPlanEntity: ListEntity = {
  prefix: "launch_plan",
  table: "launch_plans",
  key: "id",
  columns: {
    ...versionedColumns,
    spec: { type: "bytes" },
    workflow_id: { type: "int8" },
    closure: { type: "bytes" },
    state: { type: "int4" },
    digest: { type: "bytes" },
    schedule_type: { type: "text" },
    launch_condition_type: { type: "text" },
  },
  related: {
    workflow: {
      kind: "join",
      table: workflowEntity.table,
      columns: workflowEntity.columns,
      on: "launch_plans.workflow_id = workflows.id",
    },
  },
};
