import { baseColumns, type Column, type ListEntity } from "../../platform/list-query/entity.js";

const nameColumns = {
  resource_type: { type: "int4" },
  project: { type: "text" },
  domain: { type: "text" },
  name: { type: "text" },
  description: { type: "text" },
  state: { type: "int4" },
} as const satisfies Record<string, Column>;

/** Filters and sort keys of ListNamedEntities. */
export const namedEntityEntity: ListEntity = {
  prefix: "entities",
  table: "named_entities",
  key: "name",
  columns: nameColumns,
  related: {
    // Flyte stores state and description in a separate table; here they are columns of the same row.
    named_entity_metadata: { kind: "same", table: "named_entities", columns: { ...baseColumns, ...nameColumns } },
  },
};
