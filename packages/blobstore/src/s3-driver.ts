import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type * as Sdk from "@aws-sdk/client-s3";
import type { BlobAddress } from "./address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, SignedRequest, SignPutOptions } from "./blob-store.js";
import { BlobError, BlobTooLarge, BlobUnavailable } from "./errors.js";
import { uploadFile } from "./s3-upload.js";

type S3Address = Extract<BlobAddress, { scheme: "s3" }>;

export interface S3Config {
  /** Address of the service; absent means AWS itself. */
  readonly endpoint?: string | undefined;
  /** Address in signed URLs, for clients that reach the service by another one. */
  readonly publicEndpoint?: string | undefined;
  readonly region?: string | undefined;
  /** Absent or empty: the environment's credentials (variables, profile, instance role). */
  readonly accessKeyId?: string | undefined;
  readonly secretAccessKey?: string | undefined;
  /** Requests at once; more wait. The default is 64. */
  readonly maxConnections?: number | undefined;
}

interface Loaded {
  readonly sdk: typeof Sdk;
  readonly client: Sdk.S3Client;
}

/** Blobs in S3 or what speaks its protocol. The SDK is loaded with the first call, for it takes long. */
export class S3Driver {
  readonly #config: S3Config;
  #loading: Promise<Loaded> | undefined;
  #signing: Promise<Sdk.S3Client> | undefined;

  constructor(config: S3Config) {
    this.#config = config;
  }

  async get({ uri, bucket, key }: S3Address, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const { sdk, client } = await this.#load();
    return guard(uri, async () => {
      const response = await found(client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key })));
      if (response?.Body === undefined) return undefined;
      const size = response.ContentLength ?? 0;
      if (maxBytes !== undefined && size > maxBytes) {
        if ("destroy" in response.Body) response.Body.destroy();
        throw new BlobTooLarge(uri, size, maxBytes);
      }
      return response.Body.transformToByteArray();
    });
  }

  async put({ uri, bucket, key }: S3Address, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const { sdk, client } = await this.#load();
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Body: bytes,
      ContentLength: bytes.byteLength,
      ...(options.contentType === undefined ? {} : { ContentType: options.contentType }),
      ...(options.metadata === undefined ? {} : { Metadata: { ...options.metadata } }),
      ...(options.ifNoneMatch === true ? { IfNoneMatch: "*" } : {}),
    });
    return guard(uri, async () => {
      try {
        await client.send(command);
        return "written";
      } catch (error) {
        if (options.ifNoneMatch === true && statusOf(error) === 412) return "exists";
        throw error;
      }
    });
  }

  async getFile({ uri, bucket, key }: S3Address, path: string): Promise<boolean> {
    const { sdk, client } = await this.#load();
    return guard(uri, async () => {
      const response = await found(client.send(new sdk.GetObjectCommand({ Bucket: bucket, Key: key })));
      if (response?.Body === undefined) return false;
      await pipeline(response.Body as Readable, createWriteStream(path));
      return true;
    });
  }

  async putFile({ uri, bucket, key }: S3Address, path: string): Promise<void> {
    const loaded = await this.#load();
    await guard(uri, () => uploadFile(loaded, { Bucket: bucket, Key: key }, path));
  }

  async head({ uri, bucket, key }: S3Address): Promise<BlobHead | undefined> {
    const { sdk, client } = await this.#load();
    const response = await guard(uri, () => found(client.send(new sdk.HeadObjectCommand({ Bucket: bucket, Key: key }))));
    if (response === undefined) return undefined;
    return {
      size: response.ContentLength ?? 0,
      etag: unquoted(response.ETag),
      modifiedAt: response.LastModified ?? new Date(0),
      metadata: response.Metadata ?? {},
    };
  }

  async delete({ uri, bucket, key }: S3Address): Promise<void> {
    const { sdk, client } = await this.#load();
    await guard(uri, () => found(client.send(new sdk.DeleteObjectCommand({ Bucket: bucket, Key: key }))));
  }

  async *list({ uri, bucket, key }: S3Address): AsyncGenerator<BlobEntry> {
    const { sdk, client } = await this.#load();
    let token: string | undefined;
    do {
      const page = await guard(uri, () =>
        client.send(
          new sdk.ListObjectsV2Command({ Bucket: bucket, Prefix: key, ...(token === undefined ? {} : { ContinuationToken: token }) }),
        ),
      );
      for (const item of page.Contents ?? []) {
        yield {
          uri: `s3://${bucket}/${item.Key}`,
          size: item.Size ?? 0,
          etag: unquoted(item.ETag),
          modifiedAt: item.LastModified ?? new Date(0),
        };
      }
      token = page.IsTruncated === true ? page.NextContinuationToken : undefined;
    } while (token !== undefined);
  }

  async signPut({ uri, bucket, key }: S3Address, { expiresInSeconds, contentMd5, metadata = {} }: SignPutOptions): Promise<SignedRequest> {
    const { sdk } = await this.#load();
    const command = new sdk.PutObjectCommand({
      Bucket: bucket,
      Key: key,
      Metadata: { ...metadata },
      ...(contentMd5 === undefined ? {} : { ContentMD5: contentMd5 }),
    });
    const headers = Object.fromEntries(Object.entries(metadata).map(([name, value]) => [`x-amz-meta-${name}`, value]));
    const url = await this.#sign({ uri, command, expiresInSeconds, signedHeaders: Object.keys(headers) });
    return { url, headers: { ...headers, ...(contentMd5 === undefined ? {} : { "Content-MD5": contentMd5 }) } };
  }

  async signGet({ uri, bucket, key }: S3Address, { expiresInSeconds }: { readonly expiresInSeconds: number }): Promise<SignedRequest> {
    const { sdk } = await this.#load();
    const command = new sdk.GetObjectCommand({ Bucket: bucket, Key: key });
    return { url: await this.#sign({ uri, command, expiresInSeconds, signedHeaders: [] }), headers: {} };
  }

  close(): void {
    for (const client of [this.#loading?.then((loaded) => loaded.client), this.#signing]) {
      client?.then(
        (loaded) => loaded.destroy(),
        () => undefined,
      );
    }
  }

  async #sign({ uri, command, expiresInSeconds, signedHeaders }: SignInput): Promise<string> {
    const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
    const client = await this.#signingClient();
    return guard(uri, () =>
      getSignedUrl(client, command, {
        expiresIn: Math.round(expiresInSeconds),
        // Metadata counts only as headers; by default the signer would move it into the query.
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
    this.#loading ??= import("@aws-sdk/client-s3").then((sdk) => ({ sdk, client: new sdk.S3Client(clientConfig(this.#config)) }));
    return this.#loading;
  }
}

interface SignInput {
  readonly uri: string;
  readonly command: Sdk.PutObjectCommand | Sdk.GetObjectCommand;
  readonly expiresInSeconds: number;
  readonly signedHeaders: readonly string[];
}

function clientConfig(config: S3Config): Sdk.S3ClientConfig {
  const { accessKeyId = "", secretAccessKey = "", endpoint, region = "us-east-1", maxConnections = 64 } = config;
  return {
    region,
    // Checksums that nobody asked for would become part of signed URLs, and few clients send them.
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

function statusOf(error: unknown): number | undefined {
  const metadata = typeof error === "object" && error !== null && "$metadata" in error ? error.$metadata : undefined;
  const status = typeof metadata === "object" && metadata !== null && "httpStatusCode" in metadata ? metadata.httpStatusCode : undefined;
  return typeof status === "number" ? status : undefined;
}

const FILE_ERRORS: readonly unknown[] = ["ENOENT", "ENOTDIR", "EISDIR", "EACCES", "EPERM", "EROFS", "ENOSPC", "EDQUOT", "EFBIG"];

function isFileError(error: unknown): boolean {
  return error instanceof Error && "code" in error && FILE_ERRORS.includes(error.code);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "";
}

/** The answer, or undefined when there is no such key. A bucket that is not there is an error. */
async function found<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (["NoSuchKey", "NotFound"].includes(nameOf(error))) return undefined;
    throw error;
  }
}

async function guard<T>(uri: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BlobError) throw error;
    const status = statusOf(error);
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    // Without a status there was no answer: the connection failed or broke, unless it was a file of this machine that did.
    const passing = status === undefined ? !isFileError(error) : status >= 500 || [408, 409, 429].includes(status);
    if (passing && nameOf(error) !== "CredentialsProviderError") throw new BlobUnavailable(uri, reason, { cause: error });
    throw new BlobError(uri, reason, { cause: error });
  }
}
