import { baseColumns, type ListEntity } from "../../../platform/list-query/entity.js";

/** Filters and sort keys of ListSignals. */
export const signalEntity: ListEntity = {
  prefix: "signal",
  table: "signals",
  key: "id",
  columns: {
    ...baseColumns,
    execution_project: { type: "text" },
    execution_domain: { type: "text" },
    execution_name: { type: "text" },
    signal_id: { type: "text" },
    type: { type: "bytes" },
    value: { type: "bytes" },
  },
  related: {},
};
