import { create, toBinary } from "@bufbuild/protobuf";
import { BlobTooLargeError } from "@flyte-ts/blobstore";
import { LiteralSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ArtifactData, ArtifactDataSchema } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { decodeStored, readStored, StoredMessageError } from "@flyte-ts/input-limits";
import type { Queryable } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { DatasetKey } from "../dataset/identifier.js";
import type { DatacatalogDeps } from "../deps.js";
import { requireNonEmpty, invalidArgument, missingArgument } from "../rpc-errors.js";

/** A stored output: in the row, or in the blob store when it is large. */
export interface StoredData {
  readonly name: string;
  readonly value: Uint8Array | null;
  readonly location: string | null;
}

/** @throws RpcError INVALID_ARGUMENT without data, or with two outputs of one name. */
export function checkData(data: readonly ArtifactData[]): void {
  if (data.length === 0) throw missingArgument("artifactData");
  const names = new Set<string>();
  for (const [index, { name }] of data.entries()) {
    requireNonEmpty(name, `artifactData[${index}].name`);
    if (names.has(name)) throw invalidArgument(`invalid value for artifactData[${index}].name, value:[${name}]: names must be unique`);
    names.add(name);
  }
}

type Store = Pick<DatacatalogDeps, "blobs" | "config" | "uuid">;

/**
 * Stores large outputs in the blob store. Every write has its own path, so a concurrent reader of a
 * changed artifact gets old data or new data, never a mixture.
 */
export async function storeData(
  { blobs, config, uuid }: Store,
  artifact: { readonly dataset: DatasetKey; readonly artifactId: string },
  data: readonly ArtifactData[],
): Promise<StoredData[]> {
  const { container, prefix, inlineBytes } = config.storage;
  const { project, domain, name: dataset, version } = artifact.dataset;
  return Promise.all(
    data.map(async ({ name, value }): Promise<StoredData> => {
      const bytes = toBinary(LiteralSchema, value ?? create(LiteralSchema));
      if (bytes.length <= inlineBytes) return { name, value: bytes, location: null };
      const location = blobs.join(container, prefix, project, domain, dataset, version, artifact.artifactId, name, uuid(), "data.pb");
      await blobs.put(location, bytes, { contentType: "application/octet-stream" });
      return { name, value: null, location };
    }),
  );
}

/**
 * A referenced blob is missing: the artifact was changed since its rows were read, or the blob is
 * lost.
 */
export class ArtifactBlobMissingError extends Error {
  override readonly name = "ArtifactBlobMissingError";

  constructor(readonly location: string) {
    super(`artifact data is missing in the blob store: ${location}`);
  }
}

/**
 * Loads the outputs.
 *
 * @throws ArtifactBlobMissingError; RpcError OUT_OF_RANGE for outputs beyond the limits of size or
 *   elements.
 */
export function loadData({ blobs }: Pick<Store, "blobs">, stored: readonly StoredData[]): Promise<ArtifactData[]> {
  return Promise.all(
    stored.map(async ({ name, value, location }) => {
      if (value !== null) return create(ArtifactDataSchema, { name, value: decodeStored(LiteralSchema, value) });
      const literal = await readStored(blobs, { uri: location ?? "", schema: LiteralSchema }).catch(unreadable);
      if (literal === undefined) throw new ArtifactBlobMissingError(location ?? "");
      return create(ArtifactDataSchema, { name, value: literal });
    }),
  );
}

function unreadable(cause: unknown): never {
  if (!(cause instanceof StoredMessageError || cause instanceof BlobTooLargeError)) throw cause;
  throw new RpcError(Code.OUT_OF_RANGE, `artifact data cannot be read: ${cause.message}`, { cause });
}

export async function insertData(db: Queryable, artifact: bigint, stored: readonly StoredData[]): Promise<void> {
  await db.query({
    name: "insert-artifact-data",
    text: `INSERT INTO artifact_data (artifact, position, name, value, location)
      SELECT $1, position, name, value, location
      FROM unnest($2::text[], $3::bytea[], $4::text[]) WITH ORDINALITY AS data (name, value, location, position)`,
    values: [artifact, stored.map((one) => one.name), stored.map((one) => one.value), stored.map((one) => one.location)],
  });
}

/** Deletes data that no row references any more; failures leave harmless orphans. */
export async function deleteBlobs(
  { blobs, logger }: Pick<DatacatalogDeps, "blobs" | "logger">,
  stored: readonly StoredData[],
): Promise<void> {
  for (const { location } of stored) {
    if (location === null) continue;
    try {
      await blobs.delete(location);
    } catch (error) {
      logger.warn({ location, error: String(error) }, "artifact data could not be deleted");
    }
  }
}
