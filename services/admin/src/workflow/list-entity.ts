import { type EntityDescription, versionedColumns } from "../list/entity.js";

/** What ListWorkflows can filter and sort by. */
export const workflowEntity: EntityDescription = {
  prefix: "workflow",
  table: "workflows",
  key: "id",
  columns: {
    ...versionedColumns,
    typed_interface: { type: "bytes" },
    // Closures stand in the row; the column of the original that named their place stays nameable.
    remote_closure_identifier: { type: "text", sql: "''::text", order: [] },
    digest: { type: "bytes" },
    short_description: { type: "text" },
  },
  related: {},
};
