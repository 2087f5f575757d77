import type * as Hyparquet from "hyparquet";
import type * as HyparquetWriter from "hyparquet-writer";
import { fieldOf, itemOf, mismatch, type Place, rootPlace } from "../codec/place.js";
import { bigintIn, booleanIn, dateIn, enumIn, integerIn, numberIn, recordIn, stringIn } from "../codec/primitive.js";
import { type AnyType, described, type Fields, withoutDefault } from "../type/type.js";

type BasicType = NonNullable<Parameters<typeof HyparquetWriter.parquetWriteBuffer>[0]["columnData"][number]["type"]>;

/** Encodes rows as Parquet. Without declared columns, those of the first row are written. */
export async function writeParquet(columns: Fields, rows: readonly unknown[], place: Place): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await load("hyparquet-writer", () => import("hyparquet-writer"));
  const records = rows.map((row, i) => recordIn(row, itemOf(place, i)));
  const names = Object.keys(columns).length > 0 ? Object.keys(columns) : Object.keys(records[0] ?? {});
  const columnData = names.map((name) => {
    const type = Object.hasOwn(columns, name) ? columns[name] : undefined;
    const data = records.map((record, i) => cellOf(type, record[name], fieldOf(itemOf(place, i), name)));
    const basic = type && basicType(type);
    return { name, data, ...(basic && { type: basic }), nullable: type === undefined || type.kind === "optional" };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData }));
}

/** Decodes Parquet to rows of the declared columns; without any, of all columns. */
export async function readParquet(columns: Fields, bytes: Uint8Array): Promise<readonly unknown[]> {
  const { parquetReadObjects } = await load("hyparquet", () => import("hyparquet"));
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const rows = await parquetReadObjects({ file });
  const fields = Object.entries(columns);
  return rows.map((row, i) => {
    if (fields.length === 0) return row;
    const place = itemOf(rootPlace("rows"), i);
    return Object.fromEntries(fields.map(([name, type]) => [name, valueOf(type, row[name], fieldOf(place, name))]));
  });
}

/** Checks a cell that is written. */
function cellOf(type: AnyType | undefined, value: unknown, place: Place): unknown {
  if (type === undefined) return value;
  const shown = described(withoutDefault(type));
  switch (shown.kind) {
    case "optional":
      return value === null || value === undefined ? null : cellOf(shown.inner, value, place);
    case "int":
      return integerIn(value, place);
    case "bigint":
      return bigintIn(value, place);
    case "float":
      return numberIn(value, place);
    case "string":
      return stringIn(value, place);
    case "enum":
      return enumIn(value, shown.names, place);
    case "boolean":
      return booleanIn(value, place);
    case "datetime":
      return dateIn(value, place);
    default:
      throw mismatch(place, `a cell of ${shown.kind}, which Parquet does not hold`, value);
  }
}

/** Converts a cell that was read. */
function valueOf(type: AnyType, cell: unknown, place: Place): unknown {
  const shown = described(withoutDefault(type));
  switch (shown.kind) {
    case "optional":
      return cell === null || cell === undefined ? null : valueOf(shown.inner, cell, place);
    case "int":
      return Number(integerIn(typeof cell === "bigint" ? Number(cell) : cell, place));
    case "bigint":
      return bigintIn(cell, place);
    case "float":
      return typeof cell === "bigint" ? Number(cell) : numberIn(cell, place);
    default:
      return cellOf(type, cell, place);
  }
}

function basicType(type: AnyType): BasicType | undefined {
  const shown = described(withoutDefault(type));
  switch (shown.kind) {
    case "int":
    case "bigint":
      return "INT64";
    case "float":
      return "DOUBLE";
    case "string":
    case "enum":
      return "STRING";
    case "boolean":
      return "BOOLEAN";
    case "datetime":
      return "TIMESTAMP";
    case "optional":
      return basicType(shown.inner);
    default:
      throw new TypeError(
        `a column of ${shown.kind} cannot be written to Parquet; use int, bigint, float, string, enum, boolean or datetime`,
      );
  }
}

/** Loads an optional package when a data set is opened. */
async function load<M extends typeof Hyparquet | typeof HyparquetWriter>(name: string, importer: () => Promise<M>): Promise<M> {
  try {
    return await importer();
  } catch (error) {
    throw new Error(`data sets need the package ${name}, which is not installed: npm i hyparquet hyparquet-writer`, { cause: error });
  }
}
