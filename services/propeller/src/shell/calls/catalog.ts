import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs, durationMs, timestampMs } from "@bufbuild/protobuf/wkt";
import type { BlobStore } from "@flyte-ts/blobstore";
import type { CacheKey } from "@flyte-ts/domain/catalog";
import { type CatalogMetadata, CatalogMetadataSchema } from "@flyte-ts/idl/flyteidl/core/catalog_pb";
import { ResourceType, type TaskExecutionIdentifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type Artifact, DataCatalog } from "@flyte-ts/idl/flyteidl/datacatalog/datacatalog_pb";
import { readStored } from "@flyte-ts/input-limits";
import { type Channel, Code, createClient, RpcError, type ServiceClient } from "@flyte-ts/rpc";
import type { CallResult, CallOf } from "../../engine/calls/call.js";
import type { CachedOutputs, CatalogCalls } from "../../engine/calls/catalog.js";
import { type CallHandler, CallLimiter } from "./handlers.js";
import { toCallFailure } from "./call-failure.js";
import { artifactMetadata, type ArtifactSource, sourceOf, taskVersion } from "./catalog-source.js";

export interface CatalogHandlerOptions {
  /** Channel to the data catalog, this project's or Go Flyte's; undefined when caching is off. */
  readonly channel: Channel | undefined;
  readonly blobs: Pick<BlobStore, "get">;
  /** Maximum of concurrent calls. */
  readonly concurrency: number;
}

type CatalogCallHandlers = { readonly [K in keyof CatalogCalls]: CallHandler<K> };
type Catalog = ServiceClient<typeof DataCatalog>;

/** Call handlers that use the data catalog's public API. */
export function catalogCallHandlers({ channel, blobs, concurrency }: CatalogHandlerOptions): CatalogCallHandlers {
  if (channel === undefined) return { catalogGet: none, catalogReserve: none, catalogRelease: none, catalogPut: none };
  const catalog = createClient({ channel, service: DataCatalog });
  const call = async <V>(work: () => Promise<V>): Promise<CallResult<V>> => {
    try {
      return { kind: "value", value: await work() };
    } catch (error) {
      return toCallFailure(error);
    }
  };
  const release = (reserved: CacheKey, ownerId: string) =>
    catalog.releaseReservation({ reservationId: { datasetId: reserved.dataset, tagName: reserved.tag }, ownerId });
  return new CallLimiter(concurrency).limit({
    catalogGet: (question) => call(() => find(catalog, question)),
    catalogReserve: ({ call: { dataset, tag }, owner, heartbeatMs }) =>
      call(async () => {
        const { reservation } = await catalog.getOrExtendReservation({
          reservationId: { datasetId: dataset, tagName: tag },
          ownerId: owner,
          heartbeatInterval: durationFromMs(heartbeatMs),
        });
        if (reservation?.ownerId !== owner) return { held: "byAnother" };
        const granted = reservation.heartbeatInterval === undefined ? heartbeatMs : durationMs(reservation.heartbeatInterval);
        return { held: "byUs", heartbeatMs: granted };
      }),
    catalogRelease: ({ call: reserved, owner }) =>
      call(async () => {
        await release(reserved, owner);
        return "released" as const;
      }),
    catalogPut: (question) =>
      call(async () => {
        const value = question.outputs.value ?? (await readOutputs(blobs, question.outputs.uri));
        const key = await store(catalog, question, value);
        // The outputs are stored, so the reservation can be released; if that fails, it expires.
        if (question.owner !== undefined) await release(question.call, question.owner).catch(() => undefined);
        return key;
      }),
  });
}

const none = (): Promise<CallResult<never>> =>
  Promise.resolve({ kind: "refused", code: "UNIMPLEMENTED", message: "no data catalog is configured" });

async function find(catalog: Catalog, { call, task }: CallOf<"catalogGet">): Promise<CachedOutputs | undefined> {
  const [artifact, dataset] = await Promise.all([
    orNotFound(catalog.getArtifact({ dataset: call.dataset, queryHandle: { case: "tagName", value: call.tag } })),
    orNotFound(catalog.getDataset({ dataset: call.dataset })),
  ]);
  const found = artifact?.artifact;
  if (found === undefined || dataset === undefined) return undefined;
  const facts: ArtifactSource = { task, dataset: dataset.dataset?.metadata?.keyMap ?? {}, artifact: found.metadata?.keyMap ?? {} };
  return {
    outputs: outputsOf(found),
    createdAt: found.createdAt === undefined ? 0 : timestampMs(found.createdAt),
    key: catalogKey(call, { artifactId: found.id, source: sourceOf(facts) }),
  };
}

function outputsOf({ data }: Artifact): LiteralMap {
  const literals = data.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value] as const]));
  return create(LiteralMapSchema, { literals: Object.fromEntries(literals) });
}

interface CatalogKeyParts {
  readonly artifactId: string;
  readonly source: MessageInitShape<typeof CatalogMetadataSchema>["sourceExecution"];
}

function catalogKey({ dataset, tag }: CacheKey, { artifactId, source }: CatalogKeyParts): CatalogMetadata {
  return create(CatalogMetadataSchema, {
    datasetId: { resourceType: ResourceType.DATASET, ...dataset },
    artifactTag: { artifactId, name: tag },
    ...(source === undefined ? {} : { sourceExecution: source }),
  });
}

/**
 * Each step may already be done: by this node, whose names are derived, or by another, whose
 * outputs are equivalent.
 */
async function store(catalog: Catalog, question: CallOf<"catalogPut">, outputs: LiteralMap): Promise<CatalogMetadata> {
  const { call, source, artifactId, overwrite } = question;
  const { dataset, tag } = call;
  await orExists(catalog.createDataset({ dataset: { id: dataset, metadata: { keyMap: taskVersion(source) } } }));
  const data = Object.entries(outputs.literals).map(([name, value]) => ({ name, value }));
  const metadata = { keyMap: artifactMetadata(source) };
  if (overwrite) {
    const changed = await orNotFound(catalog.updateArtifact({ dataset, queryHandle: { case: "tagName", value: tag }, data, metadata }));
    if (changed !== undefined) return catalogKey(call, { artifactId: changed.artifactId, source: producedBy(source) });
  }
  await orExists(catalog.createArtifact({ artifact: { id: artifactId, dataset, data, metadata } }));
  await orExists(catalog.addTag({ tag: { name: tag, dataset, artifactId } }));
  return catalogKey(call, { artifactId, source: undefined });
}

function producedBy(source: TaskExecutionIdentifier): CatalogKeyParts["source"] {
  return { case: "sourceTaskExecution", value: source };
}

async function readOutputs(blobs: Pick<BlobStore, "get">, uri: string): Promise<LiteralMap> {
  const outputs = await readStored(blobs, { uri, schema: LiteralMapSchema });
  if (outputs === undefined) throw new RpcError(Code.NOT_FOUND, `outputs not found at ${uri}`);
  return outputs;
}

async function orNotFound<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.NOT_FOUND) return undefined;
    throw error;
  }
}

async function orExists(call: Promise<unknown>): Promise<void> {
  try {
    await call;
  } catch (error) {
    if (!(error instanceof RpcError && error.code === Code.ALREADY_EXISTS)) throw error;
  }
}
