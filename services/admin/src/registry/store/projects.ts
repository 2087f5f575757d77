import { baseColumns, type ListEntity } from "../../platform/list-query/entity.js";

/** Filters and sort keys of ListProjects. */
export const projectEntity: ListEntity = {
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
