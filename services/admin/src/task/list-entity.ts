import { type EntityDescription, versionedColumns } from "../list/entity.js";

/** What ListTasks can filter and sort by. */
export const taskEntity: EntityDescription = {
  prefix: "task",
  table: "tasks",
  key: "id",
  columns: {
    ...versionedColumns,
    // A version is never changed: one index has both times.
    updated_at: { type: "timestamp", sql: "tasks.created_at", order: ["created_at", "id"] },
    type: { type: "text" },
    short_description: { type: "text" },
    closure: { type: "bytes" },
    digest: { type: "bytes" },
  },
  related: {},
};
