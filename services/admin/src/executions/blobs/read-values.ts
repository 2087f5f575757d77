import type { ExecutionsDeps } from "../deps.js";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type UrlBlob, UrlBlobSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { create, fromBinary } from "@bufbuild/protobuf";
import { readStored } from "@flyte-ts/input-limits";

export type DataDeps = Pick<ExecutionsDeps, "db" | "blobs" | "config" | "logger">;

/** Values stored in the database, or the URI of their blob. */
export interface ValuesAt {
  /** Encoded core.LiteralMap. */
  readonly bytes: Uint8Array | null;
  readonly uri: string;
}

export interface ReadValues {
  readonly values: LiteralMap;
  readonly url: UrlBlob;
}

/**
 * Reads inputs or outputs from the row, else from the blob. Returns empty values when the blob
 * cannot be read, as Flyte does: clients then read the URI themselves.
 */
export async function readValues({ blobs, config, logger }: DataDeps, { bytes, uri }: ValuesAt): Promise<ReadValues> {
  const url = create(UrlBlobSchema);
  if (bytes !== null) return { values: fromBinary(LiteralMapSchema, bytes), url };
  if (uri === "") return { values: create(LiteralMapSchema), url };
  const { maxSizeInBytes, signedUrls } = config.remoteData;
  try {
    if (signedUrls.enabled) {
      const head = await blobs.head(uri);
      if (head !== undefined) {
        url.url = (await blobs.presignGet(uri, { expiresInSeconds: signedUrls.durationMinutes * 60 })).url;
        url.bytes = BigInt(head.size);
      }
    }
    const limits = maxSizeInBytes === 0 ? {} : { bytes: maxSizeInBytes };
    const values = await readStored(blobs, { uri, schema: LiteralMapSchema, limits });
    return { values: values ?? create(LiteralMapSchema), url };
  } catch (error) {
    logger.warn({ uri, error: String(error) }, "inputs or outputs of an execution cannot be read");
    return { values: create(LiteralMapSchema), url };
  }
}
