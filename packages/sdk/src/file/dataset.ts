import type { Encoding } from "../codec/encoding.js";
import { mismatch, type Place } from "../codec/place.js";
import { isRecord } from "../codec/primitive.js";
import type { Dataset, Fields } from "../type/type.js";
import type { FileStore, FlyteDataset } from "./file.js";
import { readParquet, writeParquet } from "./parquet.js";
import { type FileInFolder, filesIn, readAll } from "./remote.js";

/** Name of the only file of a data set of this SDK or of flytekit. */
const FIRST_PART = "00000";

export interface DatasetAddress {
  readonly uri: string;
  readonly format: string;
}

/** Returns the address of a data set; rows are written by the encoding, as flytekit places them. */
export function datasetAddress(value: unknown, type: Pick<Dataset<unknown>, "columns">, encoding: Encoding, place: Place): DatasetAddress {
  if (isRecord(value) && typeof value["uri"] === "string") {
    return { uri: value["uri"], format: typeof value["format"] === "string" ? value["format"] : "parquet" };
  }
  const rows = rowsIn(value);
  if (rows === undefined) throw mismatch(place, "rows, an Arrow table or a FlyteDataset", value);
  const files = encoding.store();
  const uri = files.allocate("dataset");
  encoding.later(async () => {
    const bytes = await writeParquet(type.columns, rows, place);
    await files.write(`${uri}/${FIRST_PART}`, single(bytes));
  });
  return { uri, format: "parquet" };
}

function rowsIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (!isRecord(value) || typeof value["toArray"] !== "function" || value["schema"] === undefined) return undefined;
  const rows: unknown = (value as { toArray: () => unknown }).toArray();
  return Array.isArray(rows) ? rows.map((row: { toJSON?: () => unknown }) => row.toJSON?.() ?? row) : undefined;
}

async function* single(bytes: Uint8Array): AsyncIterable<Uint8Array> {
  yield bytes;
}

export interface DatasetSource extends DatasetAddress {
  readonly columns: Fields;
  readonly files: FileStore;
}

/** A data set at an address: one Parquet file, or a folder of them. */
export class RemoteDataset implements FlyteDataset<unknown> {
  readonly uri: string;
  readonly format: string;
  readonly #source: DatasetSource;

  constructor(source: DatasetSource) {
    this.uri = source.uri;
    this.format = source.format;
    this.#source = source;
  }

  async *rows(): AsyncIterable<unknown> {
    const { uri, format, columns, files } = this.#source;
    if (format !== "parquet") throw new TypeError(`the data set at ${uri} is in the format ${format}; rows() reads parquet`);
    for (const part of await this.#parts()) yield* await readParquet(columns, await readAll(files.read(part)));
  }

  async #parts(): Promise<readonly string[]> {
    const { uri, files } = this.#source;
    if (files.listsFolders === false) return [uri.endsWith(".parquet") ? uri : `${uri}/${FIRST_PART}`];
    const found: FileInFolder[] = [];
    for await (const file of filesIn(uri, files)) found.push(file);
    if (found.length === 0) return [uri];
    // As for Spark, `_name=value` is the folder of a value of a column, and not hidden.
    const parts = found.filter(({ names }) => !names.some((name) => /^(\.|_[^=]*$)/.test(name)));
    return parts.map((part) => part.uri).sort();
  }
}
