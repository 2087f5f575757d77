import {
  type LiteralType,
  type SchemaType,
  SchemaType_SchemaColumn_SchemaColumnType as ColumnType,
  SimpleType,
  type StructuredDatasetType,
} from "@flyte-ts/idl/flyteidl/core/types_pb";

type Given = LiteralType["type"];

const simpleOfColumn: ReadonlyMap<ColumnType, SimpleType> = new Map([
  [ColumnType.INTEGER, SimpleType.INTEGER],
  [ColumnType.FLOAT, SimpleType.FLOAT],
  [ColumnType.STRING, SimpleType.STRING],
  [ColumnType.BOOLEAN, SimpleType.BOOLEAN],
  [ColumnType.DATETIME, SimpleType.DATETIME],
  [ColumnType.DURATION, SimpleType.DURATION],
]);

/**
 * True when a schema accepts this type: a schema, or a data set in parquet or of no format, with at
 * least its columns.
 */
export function schemaAccepts(expected: SchemaType, given: Given): boolean {
  switch (given.case) {
    case "schema":
      return columnsFit(given.value.columns, expected.columns, (u, d) => u.type === d.type);
    case "structuredDatasetType":
      return isParquet(given.value.format) && columnsFit(given.value.columns, expected.columns, (u, d) => matches(d.type, u.literalType));
    default:
      return false;
  }
}

/**
 * True when a data set accepts this type: a schema or a data set whose format agrees, with at least
 * its columns.
 */
export function datasetAccepts(
  expected: StructuredDatasetType,
  given: Given,
  accepts: (upstream: LiteralType, downstream: LiteralType) => boolean,
): boolean {
  switch (given.case) {
    case "schema":
      return isParquet(expected.format) && columnsFit(given.value.columns, expected.columns, (u, d) => matches(u.type, d.literalType));
    case "structuredDatasetType": {
      const [u, d] = [given.value.format.toLowerCase(), expected.format.toLowerCase()];
      if (u !== "" && d !== "" && u !== d) return false;
      return columnsFit(given.value.columns, expected.columns, ({ literalType: from }, { literalType: to }) =>
        from === undefined || to === undefined ? from === to : accepts(from, to),
      );
    }
    default:
      return false;
  }
}

/**
 * Either side without columns fits; else each expected column must exist, with a type that fits.
 */
function columnsFit<U extends { readonly name: string }, D extends { readonly name: string }>(
  given: readonly U[],
  expected: readonly D[],
  fits: (given: U, expected: D) => boolean,
): boolean {
  if (given.length === 0 || expected.length === 0) return true;
  const byName = new Map(given.map((column) => [column.name, column]));
  return expected.every((column) => {
    const source = byName.get(column.name);
    return source !== undefined && fits(source, column);
  });
}

function matches(column: ColumnType, type: LiteralType | undefined): boolean {
  return type?.type.case === "simple" && type.type.value === simpleOfColumn.get(column);
}

/** Flyte schemas are always parquet. */
function isParquet(format: string): boolean {
  return format === "" || format.toLowerCase() === "parquet";
}
