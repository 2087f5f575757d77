import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type * as Sdk from "@aws-sdk/client-s3";
import { Lazy } from "@flyte-ts/async";
import type { BlobAddress } from "../address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, SignedRequest, SignGetOptions, SignPutOptions } from "../blob-store.js";
import { deleteEach } from "../delete-each.js";
import type { BlobDriver } from "../driver.js";
import { BlobError, BlobTooLarge } from "../errors.js";
import { deleteObjects, fitsXml, MAX_DELETES } from "./delete-objects.js";
import { found, guarded, isNotImplemented, statusOf } from "./s3-failure.js";
import { uploadFile } from "./s3-upload.js";

export interface S3Config {
  /** Address of the service; absent: AWS itself. */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  /** Absent: AWS_REGION of the environment, else us-east-1. */
  readonly region?: string | undefined;
  /** Absent or empty: the environment's credentials (variables, profile, instance role). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  /** Maximum number of concurrent requests; further ones are queued. Default 64. */
  readonly maxConnections?: number | undefined;
}

interface Loaded {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Blobs in S3 or a compatible service. The SDK is loaded on the first call, since loading is slow. */
export class S3Driver implements BlobDriver {
  readonly #config: S3Config;
  readonly #loading = new Lazy(async (): Promise<Loaded> => {
    const sdk = await import("@aws-sdk/client-s3");
    return { sdk, client: new sdk.S3Client(clientConfig(this.#config)) };
  });
  /** False once the service has answered that it has no batch deletes. */
  #deletesMany = true;
  #signing: Promise<Sdk.S3Client> | undefined;

  constructor(config: S3Config) {
    this.#config = config;
  }

  async get({ uri, container, key }: BlobAddress, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const { sdk, client } = await this.#load();
    return guarded(uri, async () => {
      const response = await found(client.send(new sdk.GetObjectCommand({ Bucket: container, Key: key })));
      if (response?.Body === undefined) return undefined;
      const size = response.ContentLength ?? 0;
      if (maxBytes !== undefined && size > maxBytes) {
        if ("destroy" in response.Body) response.Body.destroy();
        throw new BlobTooLarge(uri, size, maxBytes);
      }
      return response.Body.transformToByteArray();
    });
  }

  async put({ uri, container, key }: BlobAddress, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const { sdk, client } = await this.#load();
    const command = new sdk.PutObjectCommand({
      Bucket: container,
      Key: key,
      Body: bytes,
      ContentLength: bytes.byteLength,
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
      ...(options.metadata === undefined ? {} : { Metadata: { ...options.metadata } }),
      ...(options.ifNoneMatch === true ? { IfNoneMatch: "*" } : {}),
    });
    return guarded(uri, async () => {
      try {
        await client.send(command);
        return "written";
      } catch (error) {
        if (options.ifNoneMatch === true && statusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  async getFile({ uri, container, key }: BlobAddress, path: string): Promise<boolean> {
    const { sdk, client } = await this.#load();
    return guarded(uri, async () => {
      const response = await found(client.send(new sdk.GetObjectCommand({ Bucket: container, Key: key })));
      if (response?.Body === undefined) return false;
      await pipeline(response.Body as Readable, createWriteStream(path));
      return true;
    });
  }

  async putFile({ uri, container, key }: BlobAddress, path: string): Promise<void> {
    const loaded = await this.#load();
    await guarded(uri, () => uploadFile(loaded, { Bucket: container, Key: key }, path));
  }

  async head({ uri, container, key }: BlobAddress): Promise<BlobHead | undefined> {
    const { sdk, client } = await this.#load();
    const response = await guarded(uri, () => found(client.send(new sdk.HeadObjectCommand({ Bucket: container, Key: key }))));
    if (response === undefined) return undefined;
    return {
      size: response.ContentLength ?? 0,
      etag: unquoted(response.ETag),
      modifiedAt: response.LastModified ?? new Date(0),
      metadata: response.Metadata ?? {},
    };
  }

  async delete({ uri, container, key }: BlobAddress): Promise<void> {
    const { sdk, client } = await this.#load();
    await guarded(uri, () => found(client.send(new sdk.DeleteObjectCommand({ Bucket: container, Key: key }))));
  }

  async deleteAll(addresses: readonly BlobAddress[]): Promise<void> {
    for (const ofBucket of Map.groupBy(addresses, ({ container }) => container).values()) {
      const batch = ofBucket.filter(({ key }) => fitsXml(key));
      for (let from = 0; from < batch.length; from += MAX_DELETES) await this.#deleteBatch(batch.slice(from, from + MAX_DELETES));
      const rest = ofBucket.filter(({ key }) => !fitsXml(key));
      await deleteEach(this, rest);
    }
  }

  async #deleteBatch(addresses: readonly BlobAddress[]): Promise<void> {
    if (this.#deletesMany) {
      try {
        await deleteObjects(await this.#load(), addresses);
        return;
      } catch (error) {
        if (!(error instanceof BlobError) || !isNotImplemented(error.cause)) throw error;
        this.#deletesMany = false;
      }
    }
    await deleteEach(this, addresses);
  }

  async *list({ uri, root, container, key }: BlobAddress): AsyncGenerator<BlobEntry> {
    const { sdk, client } = await this.#load();
    let token: string | undefined;
    do {
      const page = await guarded(uri, () =>
        client.send(
          new sdk.ListObjectsV2Command({
            Bucket: container,
            Prefix: key,
            // XML cannot represent all keys.
            EncodingType: "url",
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        ),
      );
      for (const item of page.Contents ?? []) {
        yield {
          uri: `${root}${decoded(item.Key ?? "", page.EncodingType)}`,
          size: item.Size ?? 0,
          etag: unquoted(item.ETag),
          modifiedAt: item.LastModified ?? new Date(0),
        };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async signPut(
    { uri, container, key }: BlobAddress,
    { expiresInSeconds, contentMd5, createOnly = false, metadata = {} }: SignPutOptions,
  ): Promise<SignedRequest> {
    const { sdk } = await this.#load();
    const command = new sdk.PutObjectCommand({
      Bucket: container,
      Key: key,
      Metadata: { ...metadata },
      ...(contentMd5 === undefined ? {} : { ContentMD5: contentMd5 }),
      ...(createOnly && { IfNoneMatch: "*" }),
    });
    const headers = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]));
    const url = await this.#sign({ uri, command, expiresInSeconds, signedHeaders: Object.keys(headers) });
    const conditions = { ...(contentMd5 !== undefined && { "Content-MD5": contentMd5 }), ...(createOnly && { "If-None-Match": "*" }) };
    return { url, headers: { ...headers, ...conditions } };
  }

  async signGet({ uri, container, key }: BlobAddress, { expiresInSeconds }: SignGetOptions): Promise<SignedRequest> {
    const { sdk } = await this.#load();
    const command = new sdk.GetObjectCommand({ Bucket: container, Key: key });
    return { url: await this.#sign({ uri, command, expiresInSeconds, signedHeaders: [] }), headers: {} };
  }

  close(): void {
    for (const client of [this.#loading.loaded?.then((loaded) => loaded.client), this.#signing]) {
      client?.then(
        (loaded) => loaded.destroy(),
        () => undefined,
      );
    }
  }

  async #sign({ uri, command, expiresInSeconds, signedHeaders }: SignInput): Promise<string> {
    const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
    const client = await this.#signingClient();
    return guarded(uri, () =>
      getSignedUrl(client, command, {
        expiresIn: Math.round(expiresInSeconds),
        // The service stores metadata only from headers; by default the signer would move it into the query.
        unhoistableHeaders: new Set(signedHeaders.map((name) => name.toLowerCase())),
      }),
    );
  }

  async #signingClient(): Promise<Sdk.S3Client> {
    const { sdk, client } = await this.#load();
    const { publicEndpoint } = this.#config;
    if (publicEndpoint === undefined || publicEndpoint === "") return client;
    this.#signing ??= Promise.resolve(new sdk.S3Client(clientConfig({ ...this.#config, endpoint: publicEndpoint })));
    return this.#signing;
  }

  #load(): Promise<Loaded> {
    return this.#loading.get();
  }
}

interface SignInput {
  readonly uri: string;
  readonly command: Sdk.PutObjectCommand | Sdk.GetObjectCommand;
  readonly expiresInSeconds: number;
  readonly signedHeaders: readonly string[];
}

function clientConfig(config: S3Config): Sdk.S3ClientConfig {
  const { accessKeyId = "", secretAccessKey = "", endpoint, maxConnections = 64 } = config;
  return {
    region: config.region || process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || "us-east-1",
    // Without this the SDK adds checksums to signed URLs, and few clients send them.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: {
      httpAgent: { keepAlive: true, maxSockets: maxConnections },
      httpsAgent: { keepAlive: true, maxSockets: maxConnections },
      connectionTimeout: 5_000,
      socketTimeout: 60_000,
    },
    ...(endpoint === undefined || endpoint === "" ? {} : { endpoint, forcePathStyle: true }),
    ...(accessKeyId === "" ? {} : { credentials: { accessKeyId, secretAccessKey } }),
  };
}

function unquoted(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}

/** Decodes a key, in which a plus is a space, as in forms. Services that do not know the encoding send keys as they are. */
function decoded(key: string, encoding: string | undefined): string {
  return encoding === "url" ? decodeURIComponent(key.replaceAll("+", "%20")) : key;
}
