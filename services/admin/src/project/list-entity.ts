import { baseColumns, type EntityDescription } from "../list/entity.js";

/** What ListProjects can filter and sort by. */
export const projectEntity: EntityDescription = {
  prefix: "project",
  table: "projects",
  key: "identifier",
  columns: {
    ...baseColumns,
    identifier: { type: "text" },
    name: { type: "text" },
    description: { type: "text" },
    labels: { type: "bytes" },
    state: { type: "int4" },
  },
  related: {},
};
