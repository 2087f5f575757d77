import { type EntityDescription, versionedColumns } from "../list/entity.js";

/** What ListTasks can filter and sort by. */
export const taskEntity: EntityDescription = {
  prefix: "task",
  table: "tasks",
  key: "id",
  columns: {
    ...versionedColumns,
    type: { type: "text" },
    short_description: { type: "text" },
    closure: { type: "bytes" },
    digest: { type: "bytes" },
  },
  related: {},
};
