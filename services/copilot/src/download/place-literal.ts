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
import { CopilotFailure } from "../failure.js";
import type { Blobs } from "../store/patient-store.js";
import { placeFile, placeFolder } from "./place-blob.js";
import { jsonText, type Plain } from "./plain.js";
import { primitiveText, primitiveValue } from "./primitive.js";

/** A literal after its download. */
export interface Placed {
  /** For inputs.json and inputs.yaml. */
  readonly value: Plain;
  /** The literal with local paths, for inputs.pb. */
  readonly literal: Literal;
}

export interface Placing {
  readonly blobs: Blobs;
  /** False: files are not downloaded, and keep their URIs. */
  readonly withFiles: boolean;
}

/** Any user of the task's container may read, change and run the files. */
const MODE = 0o777;

/**
 * Writes a literal to `path`: a value as the text of a file, a file unchanged, lists and maps as folders with an entry
 * for each item. Source of the layout: flytecopilot's downloader.
 * @throws CopilotFailure, BlobError
 */
export async function placeLiteral(literal: Literal, path: string, placing: Placing): Promise<Placed> {
  const { value } = literal;
  switch (value.case) {
    case "scalar": {
      const placed = await placeScalar(value.value, path, placing);
      return { value: placed.value, literal: withValue(literal, { case: "scalar", value: placed.scalar }) };
    }
    case "collection": {
      const items = await placeAll(
        value.value.literals.map((item, index) => [String(index), item]),
        path,
        placing,
      );
      const literals = items.map(([, item]) => item.literal);
      return {
        value: items.map(([, item]) => item.value),
        literal: withValue(literal, { case: "collection", value: create(LiteralCollectionSchema, { literals }) }),
      };
    }
    case "map": {
      const items = await placeAll(Object.entries(value.value.literals), path, placing);
      const literals = Object.fromEntries(items.map(([key, item]) => [key, item.literal]));
      return {
        value: Object.fromEntries(items.map(([key, item]) => [key, item.value])),
        literal: withValue(literal, { case: "map", value: create(LiteralMapSchema, { literals }) }),
      };
    }
    case "offloadedMetadata":
      return placeLiteral(await offloaded(value.value.uri, placing.blobs), path, placing);
    case undefined:
      throw new CopilotFailure("USER", "a literal without a value cannot be brought to a container");
  }
}

function withValue({ hash, metadata }: Literal, value: Literal["value"]): Literal {
  return create(LiteralSchema, { hash, metadata, value });
}

async function placeAll(
  entries: readonly (readonly [string, Literal])[],
  path: string,
  placing: Placing,
): Promise<(readonly [string, Placed])[]> {
  await mkdir(path, { recursive: true, mode: MODE });
  const placed: (readonly [string, Placed])[] = [];
  for (const [key, item] of entries) placed.push([key, await placeLiteral(item, join(path, fileName(key)), placing)]);
  return placed;
}

/** Keys of maps may be any text. */
function fileName(key: string): string {
  return key.includes("/") || ["", ".", ".."].includes(key) ? encodeURIComponent(key).replaceAll(".", "%2E") || "%" : key;
}

/** Reads a literal that was too large to be stored with the others. */
async function offloaded(uri: string, blobs: Blobs): Promise<Literal> {
  const bytes = await blobs.get(uri);
  if (bytes === undefined) throw new CopilotFailure("SYSTEM", `there is no literal at ${uri}`);
  return fromBinary(LiteralSchema, bytes);
}

async function placeScalar(scalar: Scalar, path: string, placing: Placing): Promise<{ readonly value: Plain; readonly scalar: Scalar }> {
  const { value } = scalar;
  const same = async (content: string | Uint8Array, plain: Plain) => {
    await writeFile(path, content, { mode: MODE });
    return { value: plain, scalar };
  };
  switch (value.case) {
    case "primitive":
      return same(primitiveText(value.value), primitiveValue(value.value));
    case "noneType":
      return same("null", null);
    case "binary":
      return same(value.value.value, Buffer.from(value.value.value).toString("base64"));
    case "error":
      return same(value.value.message, value.value.message);
    case "generic":
      return same(jsonText(value.value as JsonObject as Plain), value.value as JsonObject as Plain);
    case "union": {
      if (value.value.value === undefined) return same("null", null);
      const inside = await placeLiteral(value.value.value, path, placing);
      const union = { ...value.value, value: inside.literal };
      return { value: inside.value, scalar: create(ScalarSchema, { value: { case: "union", value: union } }) };
    }
    case "blob":
    case "schema":
    case "structuredDataset": {
      const { uri } = value.value;
      if (!placing.withFiles) return { value: uri, scalar };
      const single = value.case === "blob" && value.value.metadata?.type?.dimensionality === BlobType_BlobDimensionality.SINGLE;
      await (single ? placeFile(placing.blobs, uri, path) : placeFolder(placing.blobs, uri, path));
      return {
        value: path,
        scalar: create(ScalarSchema, { value: { ...value, value: { ...value.value, uri: path } } as Scalar["value"] }),
      };
    }
    case undefined:
      throw new CopilotFailure("USER", "a scalar without a value cannot be brought to a container");
  }
}
