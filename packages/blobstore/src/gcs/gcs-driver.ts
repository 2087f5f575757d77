import { createHash } from "node:crypto";
import type * as Sdk from "@google-cloud/storage";
import { Lazy } from "@flyte-ts/async";
import type { BlobAddress } from "../address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, SignedRequest, SignGetOptions, SignPutOptions } from "../blob-store.js";
import type { BlobDriver } from "../driver.js";
import type { GcsConfig } from "./gcs-config.js";
import { found, guarded, statusOf } from "./gcs-failure.js";
import { readUpTo } from "./read-up-to.js";

/** Blobs in Google Cloud Storage. The SDK is loaded on the first call, since loading is slow. */
export class GcsDriver implements BlobDriver {
  readonly #config: GcsConfig;
  readonly #loading = new Lazy(async () => createStorage(await import("@google-cloud/storage"), this.#config));

  constructor(config: GcsConfig) {
    this.#config = config;
  }

  async get(address: BlobAddress, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const file = await this.#file(address);
    return guarded(address.uri, () =>
      found(
        maxBytes === undefined
          ? file.download({ decompress: false }).then(([content]) => content)
          : readUpTo(file, { uri: address.uri, maxBytes }),
      ),
    );
  }

  async put(address: BlobAddress, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const file = await this.#file(address);
    const { contentType, metadata, ifNoneMatch } = options;
    return guarded(address.uri, async () => {
      try {
        await file.save(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), {
          resumable: false,
          // The service compares the upload with this sum; otherwise the client would, and delete a blob that differs.
          validation: false,
          metadata: {
            md5Hash: createHash("md5").update(bytes).digest("base64"),
            ...(contentType !== undefined && { contentType }),
            ...(metadata !== undefined && { metadata: { ...metadata } }),
          },
          ...(ifNoneMatch === true && { preconditionOpts: { ifGenerationMatch: 0 } }),
        });
        return "written";
      } catch (error) {
        if (ifNoneMatch === true && statusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  async getFile(address: BlobAddress, path: string): Promise<boolean> {
    const file = await this.#file(address);
    const done = await guarded(address.uri, () => found(file.download({ destination: path, decompress: false })));
    return done !== undefined;
  }

  async putFile(address: BlobAddress, path: string): Promise<void> {
    const file = await this.#file(address);
    await guarded(address.uri, () => file.bucket.upload(path, { destination: file }));
  }

  async head(address: BlobAddress): Promise<BlobHead | undefined> {
    const file = await this.#file(address);
    const answer = await guarded(address.uri, () => found(file.getMetadata()));
    if (answer === undefined) return undefined;
    const [known] = answer;
    const metadata = Object.entries(known.metadata ?? {}).map(([name, value]) => [name.toLowerCase(), String(value)]);
    return { ...entryOf(known), metadata: Object.fromEntries(metadata) };
  }

  async delete(address: BlobAddress): Promise<void> {
    const file = await this.#file(address);
    await guarded(address.uri, () => found(file.delete()));
  }

  async *list({ uri, root, container, key }: BlobAddress): AsyncGenerator<BlobEntry> {
    const storage = await this.#load(uri);
    let pageToken: string | undefined;
    do {
      const query = { prefix: key, autoPaginate: false, maxResults: 1_000, fields: FIELDS, ...(pageToken !== undefined && { pageToken }) };
      const [files, next] = await guarded(uri, () => storage.bucket(container).getFiles(query));
      // With selected fields the SDK returns plain answers instead of its File objects.
      for (const file of files) {
        const known = file as unknown as Sdk.FileMetadata;
        yield { uri: `${root}${known.name}`, ...entryOf(known) };
      }
      pageToken = next === null || next === undefined ? undefined : (next as { pageToken?: string }).pageToken;
    } while (pageToken !== undefined);
  }

  async signPut(
    address: BlobAddress,
    { expiresInSeconds, contentMd5, createOnly = false, metadata = {} }: SignPutOptions,
  ): Promise<SignedRequest> {
    const extensionHeaders = {
      ...Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-goog-meta-${name}`, value])),
      ...(createOnly && { "x-goog-if-generation-match": "0" }),
    };
    const url = await this.#sign(address, {
      action: "write",
      expiresInSeconds,
      extensionHeaders,
      ...(contentMd5 !== undefined && { contentMd5 }),
    });
    return { url, headers: { ...extensionHeaders, ...(contentMd5 !== undefined && { "Content-MD5": contentMd5 }) } };
  }

  async signGet(address: BlobAddress, { expiresInSeconds }: SignGetOptions): Promise<SignedRequest> {
    return { url: await this.#sign(address, { action: "read", expiresInSeconds }), headers: {} };
  }

  async #sign(address: BlobAddress, { expiresInSeconds, ...request }: SignInput): Promise<string> {
    const file = await this.#file(address);
    const { publicEndpoint, signingEndpoint } = this.#config;
    const accessibleAt = new Date();
    const [url] = await guarded(address.uri, () =>
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

  async #file({ uri, container, key }: BlobAddress): Promise<Sdk.File> {
    return (await this.#load(uri)).bucket(container).file(key);
  }

  #load(uri: string): Promise<Sdk.Storage> {
    return guarded(uri, () => this.#loading.get());
  }
}

interface SignInput {
  readonly action: "read" | "write";
  readonly expiresInSeconds: number;
  readonly contentMd5?: string;
  readonly extensionHeaders?: Record<string, string>;
}

const FIELDS = "items(name,size,etag,md5Hash,updated),nextPageToken";

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
