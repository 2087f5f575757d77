import { type ListEntity, versionedColumns } from "../../platform/list-query/entity.js";

/** Filters and sort keys of ListWorkflows. */
export const workflowEntity: ListEntity = {
  prefix: "workflow",
  table: "workflows",
  key: "id",
  columns: {
    ...versionedColumns,
    // A version is immutable, so one index serves both times.
    updated_at: { type: "timestamp", sql: "workflows.created_at", order: ["created_at", "id"] },
    typed_interface: { type: "bytes" },
    // The row contains the closure; Flyte's column for its location remains available to filters.
    remote_closure_identifier: { type: "text", sql: "''::text", order: [] },
    digest: { type: "bytes" },
    short_description: { type: "text" },
  },
  related: {},
};
