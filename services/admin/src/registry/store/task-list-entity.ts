import { type ListEntity, versionedColumns } from "../../platform/list-query/entity.js";

/** Filters and sort keys of ListTasks. */
export const taskEntity: ListEntity = {
  prefix: "task",
  table: "tasks",
  key: "id",
  columns: {
    ...versionedColumns,
    // A version is immutable, so one index serves both times.
    updated_at: { type: "timestamp", sql: "tasks.created_at", order: ["created_at", "id"] },
    type: { type: "text" },
    short_description: { type: "text" },
    closure: { type: "bytes" },
    digest: { type: "bytes" },
  },
  related: {},
};
