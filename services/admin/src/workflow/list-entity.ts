import { type EntityDescription, versionedColumns } from "../list/entity.js";

/** What ListWorkflows can filter and sort by. */
export const workflowEntity: EntityDescription = {
  prefix: "workflow",
  table: "workflows",
  key: "id",
  columns: {
    ...versionedColumns,
    // A version is never changed: one index has both times.
    updated_at: { type: "timestamp", sql: "workflows.created_at", order: ["created_at", "id"] },
    typed_interface: { type: "bytes" },
    // Closures stand in the row; the column of the original that named their place stays nameable.
    remote_closure_identifier: { type: "text", sql: "''::text", order: [] },
    digest: { type: "bytes" },
    short_description: { type: "text" },
  },
  related: {},
};
