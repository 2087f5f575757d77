import { createHash } from "node:crypto";
import type * as Sdk from "@google-cloud/storage";
import { Lazy } from "@flyte-ts/async";
import type { BlobLocation } from "../blob-uri.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, PresignedRequest, PresignGetOptions, PresignPutOptions } from "../blob-store.js";
import type { BlobDriver } from "../driver.js";
import type { GcsConfig } from "./gcs-config.js";
import { undefinedIfMissing, mapErrors, statusOf } from "./gcs-errors.js";
import { readLimited } from "./read-with-limit.js";

/** Blobs in Google Cloud Storage. The SDK is loaded on the first call, since loading is slow. */
export class GcsDriver implements BlobDriver {
  readonly #config: GcsConfig;
  readonly #loading = new Lazy(async () => createStorage(await import("@google-cloud/storage"), this.#config));

  constructor(config: GcsConfig) {
    this.#config = config;
  }

  async get(location: BlobLocation, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const file = await this.#file(location);
    return mapErrors(location.uri, () =>
      undefinedIfMissing(
        maxBytes === undefined
          ? file.download({ decompress: false }).then(([content]) => content)
          : readLimited(file, { uri: location.uri, maxBytes }),
      ),
    );
  }

  async put(location: BlobLocation, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const file = await this.#file(location);
    const { contentType, metadata, ifAbsent } = options;
    return mapErrors(location.uri, async () => {
      try {
        await file.save(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
          resumable: false,
          // The service compares the upload with `md5Hash`. With validation enabled, the SDK would
          // compare the sums itself and delete a blob that differs.
          validation: false,
          metadata: {
            md5Hash: createHash("md5").update(bytes).digest("base64"),
            ...(contentType !== undefined && { contentType }),
            ...(metadata !== undefined && { metadata: { ...metadata } }),
          },
          ...(ifAbsent === true && { preconditionOpts: { ifGenerationMatch: 0 } }),
        });
        return "written";
      } catch (error) {
        if (ifAbsent === true && statusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  async getFile(location: BlobLocation, path: string): Promise<boolean> {
    const file = await this.#file(location);
    const done = await mapErrors(location.uri, () => undefinedIfMissing(file.download({ destination: path, decompress: false })));
    return done !== undefined;
  }

  async putFile(location: BlobLocation, path: string): Promise<void> {
    const file = await this.#file(location);
    await mapErrors(location.uri, () => file.bucket.upload(path, { destination: file }));
  }

  async head(location: BlobLocation): Promise<BlobHead | undefined> {
    const file = await this.#file(location);
    const response = await mapErrors(location.uri, () => undefinedIfMissing(file.getMetadata()));
    if (response === undefined) return undefined;
    const [stored] = response;
    const metadata = Object.entries(stored.metadata ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
    return { ...entryOf(stored), metadata: Object.fromEntries(metadata) };
  }

  async delete(location: BlobLocation): Promise<void> {
    const file = await this.#file(location);
    await mapErrors(location.uri, () => undefinedIfMissing(file.delete()));
  }

  async *list({ uri, root, bucket, key }: BlobLocation): AsyncGenerator<BlobEntry> {
    const storage = await this.#load(uri);
    let pageToken: string | undefined;
    do {
      const query = {
        prefix: key,
        autoPaginate: false,
        maxResults: 1_000,
        fields: LIST_FIELDS,
        ...(pageToken !== undefined && { pageToken }),
      };
      const [files, next] = await mapErrors(uri, () => storage.bucket(bucket).getFiles(query));
      // With selected fields the SDK returns plain answers instead of its File objects.
      for (const file of files) {
        const metadata = file as unknown as Sdk.FileMetadata;
        yield { uri: `${root}${metadata.name}`, ...entryOf(metadata) };
      }
      pageToken = next === null || next === undefined ? undefined : (next as { pageToken?: string }).pageToken;
    } while (pageToken !== undefined);
  }

  async presignPut(
    location: BlobLocation,
    { expiresInSeconds, contentMd5, createOnly = false, metadata = {} }: PresignPutOptions,
  ): Promise<PresignedRequest> {
    const extensionHeaders = {
      ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-goog-meta-${name}`, value])),
      ...(createOnly && { "x-goog-if-generation-match": "0" }),
    };
    const url = await this.#presign(location, {
      action: "write",
      expiresInSeconds,
      extensionHeaders,
      ...(contentMd5 !== undefined && { contentMd5 }),
    });
    return { url, headers: { ...extensionHeaders, ...(contentMd5 !== undefined && { "Content-MD5": contentMd5 }) } };
  }

  async presignGet(location: BlobLocation, { expiresInSeconds }: PresignGetOptions): Promise<PresignedRequest> {
    return { url: await this.#presign(location, { action: "read", expiresInSeconds }), headers: {} };
  }

  async #presign(location: BlobLocation, { expiresInSeconds, ...request }: PresignRequest): Promise<string> {
    const file = await this.#file(location);
    const { publicEndpoint, signingEndpoint } = this.#config;
    const accessibleAt = new Date();
    const [url] = await mapErrors(location.uri, () =>
      file.getSignedUrl({
        version: "v4",
        ...request,
        accessibleAt,
        expires: accessibleAt.getTime() + Math.round(expiresInSeconds) * 1_000,
        ...(publicEndpoint && { host: publicEndpoint }),
        ...(signingEndpoint && { signingEndpoint: `${signingEndpoint.replace(/\/+$/, "")}/` }),
      }),
    );
    return url;
  }

  async #file({ uri, bucket, key }: BlobLocation): Promise<Sdk.File> {
    return (await this.#load(uri)).bucket(bucket).file(key);
  }

  #load(uri: string): Promise<Sdk.Storage> {
    return mapErrors(uri, () => this.#loading.get());
  }
}

interface PresignRequest {
  readonly action: "read" | "write";
  readonly expiresInSeconds: number;
  readonly contentMd5?: string;
  readonly extensionHeaders?: Record<string, string>;
}

const LIST_FIELDS = "items(name,size,etag,md5Hash,updated),nextPageToken";

function createStorage({ Storage, IdempotencyStrategy }: typeof Sdk, config: GcsConfig): Sdk.Storage {
  const { endpoint, anonymous = false, maxConnections = 64 } = config;
  const storage = new Storage({
    ...(endpoint && { apiEndpoint: endpoint, useAuthWithCustomEndpoint: !anonymous }),
    timeout: 60_000,
    // Writing a blob twice is idempotent.
    retryOptions: { idempotencyStrategy: IdempotencyStrategy.RetryAlways, totalTimeout: 60 },
  });
  // An option of the transport that the SDK's types omit.
  const pool: object = { pool: { maxSockets: maxConnections } };
  storage.interceptors.push({ request: (options) => Object.assign(options, pool) as typeof options & { uri: string } });
  return storage;
}

function entryOf({ size, etag, md5Hash, updated }: Sdk.FileMetadata): Omit<BlobEntry, "uri"> {
  return {
    size: Number(size ?? 0),
    etag: md5Hash === undefined ? (etag ?? "").replaceAll('"', "") : Buffer.from(md5Hash, "base64").toString("hex"),
    modifiedAt: new Date(updated ?? 0),
  };
}
