import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { create, fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { BlobType_BlobDimensionality } from "@flyte-ts/idl/flyteidl/core/types_pb";
import {
  type Literal,
  LiteralCollectionSchema,
  LiteralMapSchema,
  LiteralSchema,
  type Scalar,
  ScalarSchema,
} from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { CopilotError } from "../copilot-error.js";
import type { Blobs } from "../store/retrying-store.js";
import { downloadFile, downloadDir } from "./download-blob.js";
import { jsonText, type JsonLikeValue } from "./json-like.js";
import { primitiveText, primitiveValue } from "./primitive.js";

/** A literal after its download. */
export interface DownloadedLiteral {
  /** For inputs.json and inputs.yaml. */
  readonly value: JsonLikeValue;
  /** The literal with local paths, for inputs.pb. */
  readonly literal: Literal;
}

export interface DownloadContext {
  readonly blobs: Blobs;
  /** False: files are not downloaded, and keep their URIs. */
  readonly withFiles: boolean;
}

/** Any user of the task's container may read, change and run the files. */
const FILE_MODE = 0o777;

/**
 * Writes a literal to `path`: a value as the text of a file, a file unchanged, lists and maps as
 * folders with an entry for each item. Source of the layout: flytecopilot's downloader.
 * @throws CopilotError, BlobError
 */
export async function downloadLiteral(literal: Literal, path: string, context: DownloadContext): Promise<DownloadedLiteral> {
  const { value } = literal;
  switch (value.case) {
    case "scalar": {
      const downloaded = await downloadScalar(value.value, path, context);
      return { value: downloaded.value, literal: withValue(literal, { case: "scalar", value: downloaded.scalar }) };
    }
    case "collection": {
      const items = await downloadEntries(
        value.value.literals.map((item, index) => [String(index), item]),
        path,
        context,
      );
      const literals = items.map(([, item]) => item.literal);
      return {
        value: items.map(([, item]) => item.value),
        literal: withValue(literal, { case: "collection", value: create(LiteralCollectionSchema, { literals }) }),
      };
    }
    case "map": {
      const items = await downloadEntries(Object.entries(value.value.literals), path, context);
      const literals = Object.fromEntries(items.map(([key, item]) => [key, item.literal]));
      return {
        value: Object.fromEntries(items.map(([key, item]) => [key, item.value])),
        literal: withValue(literal, { case: "map", value: create(LiteralMapSchema, { literals }) }),
      };
    }
    case "offloadedMetadata":
      return downloadLiteral(await readOffloaded(value.value.uri, context.blobs), path, context);
    case undefined:
      throw new CopilotError("USER", "a literal without a value cannot be passed to a container");
  }
}

function withValue({ hash, metadata }: Literal, value: Literal["value"]): Literal {
  return create(LiteralSchema, { hash, metadata, value });
}

async function downloadEntries(
  entries: readonly (readonly [string, Literal])[],
  path: string,
  context: DownloadContext,
): Promise<(readonly [string, DownloadedLiteral])[]> {
  await mkdir(path, { recursive: true, mode: FILE_MODE });
  const downloaded: (readonly [string, DownloadedLiteral])[] = [];
  for (const [key, item] of entries) downloaded.push([key, await downloadLiteral(item, join(path, fileName(key)), context)]);
  return downloaded;
}

/** Keys of maps may be any text. */
function fileName(key: string): string {
  return key.includes("/") || ["", ".", ".."].includes(key) ? encodeURIComponent(key).replaceAll(".", "%2E") || "%" : key;
}

/** Reads a literal that was too large to be stored with the others. */
async function readOffloaded(uri: string, blobs: Blobs): Promise<Literal> {
  const bytes = await blobs.get(uri);
  if (bytes === undefined) throw new CopilotError("SYSTEM", `there is no literal at ${uri}`);
  return fromBinary(LiteralSchema, bytes);
}

async function downloadScalar(
  scalar: Scalar,
  path: string,
  context: DownloadContext,
): Promise<{ readonly value: JsonLikeValue; readonly scalar: Scalar }> {
  const { value } = scalar;
  const writeValue = async (content: string | Uint8Array, jsonValue: JsonLikeValue) => {
    await writeFile(path, content, { mode: FILE_MODE });
    return { value: jsonValue, scalar };
  };
  switch (value.case) {
    case "primitive":
      return writeValue(primitiveText(value.value), primitiveValue(value.value));
    case "noneType":
      return writeValue("null", null);
    case "binary":
      return writeValue(value.value.value, Buffer.from(value.value.value).toString("base64"));
    case "error":
      return writeValue(value.value.message, value.value.message);
    case "generic":
      return writeValue(jsonText(value.value as JsonObject as JsonLikeValue), value.value as JsonObject as JsonLikeValue);
    case "union": {
      if (value.value.value === undefined) return writeValue("null", null);
      const inside = await downloadLiteral(value.value.value, path, context);
      const union = { ...value.value, value: inside.literal };
      return { value: inside.value, scalar: create(ScalarSchema, { value: { case: "union", value: union } }) };
    }
    case "blob":
    case "schema":
    case "structuredDataset": {
      const { uri } = value.value;
      if (!context.withFiles) return { value: uri, scalar };
      const single = value.case === "blob" && value.value.metadata?.type?.dimensionality === BlobType_BlobDimensionality.SINGLE;
      await (single ? downloadFile(context.blobs, uri, path) : downloadDir(context.blobs, uri, path));
      return {
        value: path,
        scalar: create(ScalarSchema, { value: { ...value, value: { ...value.value, uri: path } } as Scalar["value"] }),
      };
    }
    case undefined:
      throw new CopilotError("USER", "a scalar without a value cannot be passed to a container");
  }
}
