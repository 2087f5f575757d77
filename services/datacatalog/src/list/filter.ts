import {
  type FilterExpression,
  SinglePropertyFilter_ComparisonOperator as Operator,
  type SinglePropertyFilter,
} from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { requireNonEmpty, invalidArgument } from "../rpc-errors.js";

/** A part of a WHERE clause; `place` binds a value and returns its placeholder. */
export interface Condition {
  readonly sql: (place: (value: unknown) => string) => string;
}

/**
 * Datasets can be filtered by their own names only.
 *
 * @throws RpcError INVALID_ARGUMENT for other properties and for empty values.
 */
export function datasetConditions(filter: FilterExpression | undefined): Condition[] {
  return (filter?.filters ?? []).map((one) => {
    checkOperator(one);
    const { case: entity, value } = one.propertyFilter;
    if (entity !== "datasetFilter") throw cannotFilter("Dataset", entity);
    switch (value.property.case) {
      case "project":
      case "name":
      case "domain":
      case "version": {
        const { case: column, value: text } = value.property;
        requireNonEmpty(text, column);
        return { sql: (place) => `${column} = ${place(text)}` };
      }
      case "org":
        throw cannotFilter("Dataset", "org");
      case undefined:
        throw invalidArgument("missing datasetFilter.property");
    }
  });
}

/**
 * Artifacts of one dataset can be filtered by tag, partition and id.
 *
 * @throws RpcError INVALID_ARGUMENT for other properties and for empty values.
 */
export function artifactConditions(filter: FilterExpression | undefined): Condition[] {
  return (filter?.filters ?? []).map((one) => {
    checkOperator(one);
    const { case: entity, value } = one.propertyFilter;
    switch (entity) {
      case "tagFilter": {
        const name = value.property.value ?? "";
        requireNonEmpty(name, "TagName");
        return {
          sql: (place) => `EXISTS (SELECT FROM tags WHERE tags.artifact = artifacts.id AND tags.name = ${place(name)})`,
        };
      }
      case "partitionFilter": {
        const { key, value: wanted } = value.property.value ?? { key: "", value: "" };
        requireNonEmpty(key, "PartitionKey");
        requireNonEmpty(wanted, "PartitionValue");
        return {
          sql: (place) =>
            `EXISTS (SELECT FROM artifact_partitions AS p WHERE p.artifact = artifacts.id AND p.key = ${place(key)} AND p.value = ${place(wanted)})`,
        };
      }
      case "artifactFilter": {
        const id = value.property.value ?? "";
        requireNonEmpty(id, "ArtifactId");
        return { sql: (place) => `artifact_id = ${place(id)}` };
      }
      case "datasetFilter":
      case undefined:
        throw cannotFilter("Artifact", entity);
    }
  });
}

function checkOperator({ operator }: SinglePropertyFilter): void {
  if (operator !== Operator.EQUALS) throw invalidArgument(`unsupported filter expression operator index: ${String(operator)}`);
}

const NAMES = { tagFilter: "Tag", partitionFilter: "Partition", artifactFilter: "Artifact", datasetFilter: "Dataset", org: "org" } as const;

function cannotFilter(entity: "Dataset" | "Artifact", by: keyof typeof NAMES | undefined): Error {
  return by === undefined
    ? invalidArgument("missing filters.property_filter")
    : invalidArgument(`${entity} cannot be filtered by ${NAMES[by]} properties`);
}
