import { baseColumns, type Column, type EntityDescription } from "../list/entity.js";

const nameColumns = {
  resource_type: { type: "int4" },
  project: { type: "text" },
  domain: { type: "text" },
  name: { type: "text" },
  description: { type: "text" },
  state: { type: "int4" },
} as const satisfies Record<string, Column>;

/** What ListNamedEntities can filter and sort by. */
export const namedEntityEntity: EntityDescription = {
  prefix: "entities",
  table: "named_entities",
  key: "name",
  columns: nameColumns,
  related: {
    // The original keeps state and description in a table beside the names; here it is the same row.
    named_entity_metadata: { kind: "same", table: "named_entities", columns: { ...baseColumns, ...nameColumns } },
  },
};
