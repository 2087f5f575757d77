import { BlobError, BlobUnavailableError } from "@flyte-ts/blobstore";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  ArtifactType,
  type CreateDownloadLinkRequest,
  type CreateDownloadLinkResponseSchema,
  type CreateDownloadLocationRequest,
  type CreateDownloadLocationResponseSchema,
} from "@flyte-ts/idl/flyteidl/service/dataproxy_pb";
import { Code, RpcError } from "@flyte-ts/rpc";
import type { ExecutionsDeps } from "../deps.js";
import { checkNodeId, nodeIdText } from "../model/identifier.js";
import { invalidArgument, notFound } from "../../platform/index.js";
import { findNode } from "../store/node/find.js";
import { expirySeconds } from "./expiry.js";

export type DownloadDeps = Pick<ExecutionsDeps, "db" | "blobs" | "config" | "clock">;

/** Signs a URL from which anyone may read the object. @throws RpcError INVALID_ARGUMENT. */
export async function createDownloadLocation(
  { blobs, config, clock }: DownloadDeps,
  { nativeUrl, expiresIn }: CreateDownloadLocationRequest,
): Promise<MessageInitShape<typeof CreateDownloadLocationResponseSchema>> {
  const expiresInSeconds = expirySeconds(expiresIn, config.dataProxy.download.maxExpiresInSeconds);
  if (!/^[a-z0-9]+:\/\/[^/]+\/./.test(nativeUrl)) throw invalidArgument(`native_url [${nativeUrl}] is not the address of an object`);
  const { url } = await blobs.presignGet(nativeUrl, { expiresInSeconds }).catch((cause: unknown) => {
    if (!(cause instanceof BlobError) || cause instanceof BlobUnavailableError) throw cause;
    throw invalidArgument(
      `native_url [${nativeUrl}] cannot be signed: it must be in a blob store, as s3://bucket/key, gs://bucket/key or abfs://container/key`,
    );
  });
  return { signedUrl: url, expiresAt: timestampFromMs(clock().getTime() + expiresInSeconds * 1000) };
}

/**
 * Signs URLs of a node's artifacts for people: its deck.
 *
 * @throws RpcError INVALID_ARGUMENT, also for an unknown node; NOT_FOUND without a deck.
 */
export async function createDownloadLink(
  deps: DownloadDeps,
  { artifactType, expiresIn, source }: CreateDownloadLinkRequest,
): Promise<MessageInitShape<typeof CreateDownloadLinkResponseSchema>> {
  const { blobs, config, clock, db } = deps;
  const expiresInSeconds = expirySeconds(expiresIn, config.dataProxy.download.maxExpiresInSeconds);
  if (artifactType === ArtifactType.UNDEFINED) throw invalidArgument("invalid artifact type [ARTIFACT_TYPE_UNDEFINED]");
  if (source.case !== "nodeExecutionId") throw invalidArgument("source is required: node_execution_id");
  const id = source.value;
  checkNodeId(id, "node_execution_id");
  const uri = await findNode(db, id).then(
    (row) => (artifactType === ArtifactType.DECK ? row.deck_uri : ""),
    (error: unknown) => {
      if (!(error instanceof RpcError) || error.code !== Code.NOT_FOUND) throw error;
      throw invalidArgument(`failed to find node execution [${nodeIdText(id)}]. Error: ${error.message}`);
    },
  );
  if (uri === "") throw notFound(`no deckUrl found for request [${ArtifactType[artifactType] ?? artifactType} of ${nodeIdText(id)}]`);
  if ((await blobs.head(uri)) === undefined) throw notFound("object not found");
  const { url } = await blobs.presignGet(uri, { expiresInSeconds });
  const expiresAt = timestampFromMs(clock().getTime() + expiresInSeconds * 1000);
  return { signedUrl: [url], expiresAt, preSignedUrls: { signedUrl: [url], expiresAt } };
}
