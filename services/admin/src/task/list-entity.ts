import { baseColumns, type EntityDescription } from "../list/entity.js";

/** What ListTasks can filter and sort by. */
export const taskEntity: EntityDescription = {
  prefix: "task",
  table: "tasks",
  key: "id",
  columns: {
    ...baseColumns,
    project: { type: "text" },
    domain: { type: "text" },
    name: { type: "text" },
    version: { type: "text" },
    type: { type: "text" },
    short_description: { type: "text" },
    closure: { type: "bytes" },
    digest: { type: "bytes" },
  },
  related: {},
};
