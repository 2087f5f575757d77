import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type * as Sdk from "@aws-sdk/client-s3";
import { Lazy } from "@flyte-ts/async";
import type { BlobLocation } from "../blob-uri.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, PresignedRequest, PresignGetOptions, PresignPutOptions } from "../blob-store.js";
import { deleteOneByOne } from "../delete-one-by-one.js";
import type { BlobDriver } from "../driver.js";
import { BlobError, BlobTooLargeError } from "../errors.js";
import { batchDelete, isXmlSafe, MAX_BATCH_DELETE } from "./batch-delete.js";
import { undefinedIfMissing, mapErrors, isNotImplemented, statusOf } from "./s3-errors.js";
import { uploadFile } from "./multipart-upload.js";

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

interface Connection {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/**
 * Blobs in S3 or a compatible service. The SDK is loaded on the first call, since loading is slow.
 */
export class S3Driver implements BlobDriver {
  readonly #config: S3Config;
  readonly #connecting = new Lazy(async (): Promise<Connection> => {
    const sdk = await import("@aws-sdk/client-s3");
    return { sdk, client: new sdk.S3Client(clientConfig(this.#config)) };
  });
  /** False once the service has answered that it has no batch deletes. */
  #supportsBatchDelete = true;
  /** Client of the public endpoint, for signed URLs. */
  readonly #presigning = new Lazy(async (): Promise<Sdk.S3Client> => {
    const { sdk } = await this.#connect();
    return new sdk.S3Client(clientConfig({ ...this.#config, endpoint: this.#config.publicEndpoint }));
  });

  constructor(config: S3Config) {
    this.#config = config;
  }

  async get({ uri, bucket, key }: BlobLocation, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const { sdk, client } = await this.#connect();
    return mapErrors(uri, async () => {
      const response = await undefinedIfMissing(client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key })));
      if (response?.Body === undefined) return undefined;
      const size = response.ContentLength ?? 0;
      if (maxBytes !== undefined && size > maxBytes) {
        if ("destroy" in response.Body) response.Body.destroy();
        throw new BlobTooLargeError(uri, size, maxBytes);
      }
      return response.Body.transformToByteArray();
    });
  }

  async put({ uri, bucket, key }: BlobLocation, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const { sdk, client } = await this.#connect();
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: bytes,
      ContentLength: bytes.byteLength,
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
      ...(options.metadata === undefined ? {} : { Metadata: { ...options.metadata } }),
      ...(options.ifAbsent === true ? { IfNoneMatch: "*" } : {}),
    });
    return mapErrors(uri, async () => {
      try {
        await client.send(command);
        return "written";
      } catch (error) {
        if (options.ifAbsent === true && statusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  async getFile({ uri, bucket, key }: BlobLocation, path: string): Promise<boolean> {
    const { sdk, client } = await this.#connect();
    return mapErrors(uri, async () => {
      const response = await undefinedIfMissing(client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key })));
      if (response?.Body === undefined) return false;
      await pipeline(response.Body as Readable, createWriteStream(path));
      return true;
    });
  }

  async putFile({ uri, bucket, key }: BlobLocation, path: string): Promise<void> {
    const loaded = await this.#connect();
    await mapErrors(uri, () => uploadFile(loaded, { Bucket: bucket, Key: key }, path));
  }

  async head({ uri, bucket, key }: BlobLocation): Promise<BlobHead | undefined> {
    const { sdk, client } = await this.#connect();
    const response = await mapErrors(uri, () => undefinedIfMissing(client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }))));
    if (response === undefined) return undefined;
    return {
      size: response.ContentLength ?? 0,
      etag: unquote(response.ETag),
      modifiedAt: response.LastModified ?? new Date(0),
      metadata: response.Metadata ?? {},
    };
  }

  async delete({ uri, bucket, key }: BlobLocation): Promise<void> {
    const { sdk, client } = await this.#connect();
    await mapErrors(uri, () => undefinedIfMissing(client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key }))));
  }

  async deleteAll(locations: readonly BlobLocation[]): Promise<void> {
    for (const inBucket of Map.groupBy(locations, ({ bucket }) => bucket).values()) {
      const batch = inBucket.filter(({ key }) => isXmlSafe(key));
      for (let from = 0; from < batch.length; from += MAX_BATCH_DELETE) await this.#deleteBatch(batch.slice(from, from + MAX_BATCH_DELETE));
      const rest = inBucket.filter(({ key }) => !isXmlSafe(key));
      await deleteOneByOne(this, rest);
    }
  }

  async #deleteBatch(locations: readonly BlobLocation[]): Promise<void> {
    if (this.#supportsBatchDelete) {
      try {
        await batchDelete(await this.#connect(), locations);
        return;
      } catch (error) {
        if (!(error instanceof BlobError) || !isNotImplemented(error.cause)) throw error;
        this.#supportsBatchDelete = false;
      }
    }
    await deleteOneByOne(this, locations);
  }

  async *list({ uri, root, bucket, key }: BlobLocation): AsyncGenerator<BlobEntry> {
    const { sdk, client } = await this.#connect();
    let token: string | undefined;
    do {
      const page = await mapErrors(uri, () =>
        client.send(
          new sdk.ListObjectsV2Command({
            Bucket: bucket,
            Prefix: key,
            // XML cannot represent all keys.
            EncodingType: "url",
            ...(token === undefined ? {} : { ContinuationToken: token }),
          }),
        ),
      );
      for (const item of page.Contents ?? []) {
        yield {
          uri: `${root}${decodeKey(item.Key ?? "", page.EncodingType)}`,
          size: item.Size ?? 0,
          etag: unquote(item.ETag),
          modifiedAt: item.LastModified ?? new Date(0),
        };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async presignPut(
    { uri, bucket, key }: BlobLocation,
    { expiresInSeconds, contentMd5, createOnly = false, metadata = {} }: PresignPutOptions,
  ): Promise<PresignedRequest> {
    const { sdk } = await this.#connect();
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Metadata: { ...metadata },
      ...(contentMd5 === undefined ? {} : { ContentMD5: contentMd5 }),
      ...(createOnly && { IfNoneMatch: "*" }),
    });
    const headers = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]));
    const url = await this.#presign({ uri, command, expiresInSeconds, signedHeaders: Object.keys(headers) });
    const conditions = { ...(contentMd5 !== undefined && { "Content-MD5": contentMd5 }), ...(createOnly && { "If-None-Match": "*" }) };
    return { url, headers: { ...headers, ...conditions } };
  }

  async presignGet({ uri, bucket, key }: BlobLocation, { expiresInSeconds }: PresignGetOptions): Promise<PresignedRequest> {
    const { sdk } = await this.#connect();
    const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
    return { url: await this.#presign({ uri, command, expiresInSeconds, signedHeaders: [] }), headers: {} };
  }

  close(): void {
    for (const client of [this.#connecting.loaded?.then((loaded) => loaded.client), this.#presigning.loaded]) {
      client?.then(
        (loaded) => loaded.destroy(),
        () => undefined,
      );
    }
  }

  async #presign({ uri, command, expiresInSeconds, signedHeaders }: PresignRequest): Promise<string> {
    const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
    const client = await this.#presigningClient();
    return mapErrors(uri, () =>
      getSignedUrl(client, command, {
        expiresIn: Math.round(expiresInSeconds),
        // The service stores metadata only from headers; by default the signer would move it into
        // the query.
        unhoistableHeaders: new Set(signedHeaders.map((name) => name.toLowerCase())),
      }),
    );
  }

  async #presigningClient(): Promise<Sdk.S3Client> {
    const { publicEndpoint } = this.#config;
    return publicEndpoint === undefined || publicEndpoint === "" ? (await this.#connect()).client : this.#presigning.get();
  }

  #connect(): Promise<Connection> {
    return this.#connecting.get();
  }
}

interface PresignRequest {
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
    // Resolves the middleware once per kind of request: saves a seventh of its processor time.
    cacheMiddleware: true,
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

function unquote(etag: string | undefined): string {
  return (etag ?? "").replaceAll('"', "");
}

/**
 * Decodes a key, in which a plus is a space, as in forms. Services that do not know the encoding
 * send keys as they are.
 */
function decodeKey(key: string, encoding: string | undefined): string {
  return encoding === "url" ? decodeURIComponent(key.replaceAll("+", "%20")) : key;
}
