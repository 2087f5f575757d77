import type * as Sdk from "@azure/storage-blob";
import { Lazy } from "@flyte-ts/async";
import type { BlobLocation } from "../blob-uri.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, PresignedRequest, PresignGetOptions, PresignPutOptions } from "../blob-store.js";
import type { BlobDriver } from "../driver.js";
import { BlobError, BlobTooLargeError } from "../errors.js";
import { type AzureAccount, azureAccount, type AzureConfig } from "./azure-account.js";
import { codeOf, undefinedIfMissing, mapErrors } from "./azure-errors.js";
import { SasSigner, type SasRequest } from "./sas-signer.js";

interface Connection {
  readonly account: AzureAccount;
  readonly service: Sdk.BlobServiceClient;
  readonly signer: SasSigner;
  readonly close: () => void;
}

/**
 * Block blobs in an Azure storage account. The SDK is loaded on the first call, since loading is
 * slow.
 */
export class AzureDriver implements BlobDriver {
  readonly #config: AzureConfig;
  #connecting: Lazy<Connection> | undefined;

  constructor(config: AzureConfig) {
    this.#config = config;
  }

  async get(location: BlobLocation, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const { uri } = location;
    const blob = await this.#blob(location);
    return mapErrors(uri, async () => {
      const response = await undefinedIfMissing(blob.download(0, undefined, { maxRetryRequests: 3 }));
      if (response?.readableStreamBody === undefined) return undefined;
      const stream = response.readableStreamBody;
      const size = response.contentLength ?? 0;
      if (maxBytes !== undefined && size > maxBytes) {
        if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
        throw new BlobTooLargeError(uri, size, maxBytes);
      }
      const parts: Uint8Array[] = [];
      for await (const part of stream) parts.push(Buffer.from(part));
      return Buffer.concat(parts);
    });
  }

  async put(location: BlobLocation, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const blob = await this.#blob(location);
    const { contentType, metadata, ifAbsent } = options;
    return mapErrors(location.uri, async () => {
      try {
        await blob.upload(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes.byteLength, {
          ...(ifAbsent === true && { conditions: { ifNoneMatch: "*" } }),
          ...(contentType !== undefined && { blobHTTPHeaders: { blobContentType: contentType } }),
          ...(metadata !== undefined && { metadata: { ...metadata } }),
        });
        return "written";
      } catch (error) {
        if (ifAbsent === true && ["BlobAlreadyExists", "ConditionNotMet"].includes(codeOf(error))) return "exists";
        throw error;
      }
    });
  }

  async getFile(location: BlobLocation, path: string): Promise<boolean> {
    const blob = await this.#blob(location);
    const response = await mapErrors(location.uri, () =>
      undefinedIfMissing(blob.downloadToFile(path, 0, undefined, { maxRetryRequests: 3 })),
    );
    return response !== undefined;
  }

  async putFile(location: BlobLocation, path: string): Promise<void> {
    const blob = await this.#blob(location);
    await mapErrors(location.uri, () => blob.uploadFile(path, { blockSize: BLOCK_BYTES, concurrency: 4 }));
  }

  async head(location: BlobLocation): Promise<BlobHead | undefined> {
    const blob = await this.#blob(location);
    const properties = await mapErrors(location.uri, () => undefinedIfMissing(blob.getProperties()));
    if (properties === undefined) return undefined;
    const metadata = Object.entries(properties.metadata ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    return { ...entryOf(properties), metadata: Object.fromEntries(metadata) };
  }

  async delete(location: BlobLocation): Promise<void> {
    const blob = await this.#blob(location);
    await mapErrors(location.uri, async () => {
      try {
        await undefinedIfMissing(blob.delete());
      } catch (error) {
        // With a hierarchical namespace folders are listed as blobs.
        if (codeOf(error) !== "DirectoryIsNotEmpty") throw error;
      }
    });
  }

  async *list(location: BlobLocation): AsyncGenerator<BlobEntry> {
    const { uri, root, bucket, key } = location;
    const { service } = await this.#connect(location);
    const pages = service.getContainerClient(bucket).listBlobsFlat({ prefix: key }).byPage({ maxPageSize: 1_000 });
    for (;;) {
      const page = await mapErrors(uri, () => pages.next());
      if (page.done === true) return;
      for (const { name, properties } of page.value.segment.blobItems) yield { uri: `${root}${name}`, ...entryOf(properties) };
    }
  }

  async presignPut(
    location: BlobLocation,
    { expiresInSeconds, contentMd5, createOnly = false, metadata = {} }: PresignPutOptions,
  ): Promise<PresignedRequest> {
    // An Azure signature covers no headers, hence no MD5. With create (c) but without write (w)
    // permission the URL creates a blob and replaces none.
    const permissions = contentMd5 === undefined && !createOnly ? "cw" : "c";
    const metadataHeaders = Object.entries(metadata).map(([name, value]) => [`x-ms-meta-${name}`, value]);
    return {
      url: await this.#presign(location, { permissions, expiresInSeconds }),
      headers: {
        // Required by the service for uploads.
        "x-ms-blob-type": "BlockBlob",
        ...Object.fromEntries(metadataHeaders),
        ...(contentMd5 !== undefined && { "Content-MD5": contentMd5 }),
      },
    };
  }

  async presignGet(location: BlobLocation, { expiresInSeconds }: PresignGetOptions): Promise<PresignedRequest> {
    return { url: await this.#presign(location, { permissions: "r", expiresInSeconds }), headers: {} };
  }

  close(): void {
    this.#connecting?.loaded?.then(
      ({ close }) => close(),
      () => undefined,
    );
  }

  async #presign(location: BlobLocation, request: Pick<SasRequest, "permissions" | "expiresInSeconds">): Promise<string> {
    const { account, signer } = await this.#connect(location);
    const { uri, bucket, key } = location;
    const signature = await mapErrors(uri, () => signer.sign({ container: bucket, key, ...request }));
    const path = [bucket, ...key.split("/")].map(encodeURIComponent).join("/");
    return `${account.publicEndpoint}/${path}?${signature}`;
  }

  async #blob(location: BlobLocation): Promise<Sdk.BlockBlobClient> {
    const { service } = await this.#connect(location);
    return service.getContainerClient(location.bucket).getBlockBlobClient(location.key);
  }

  async #connect(location: BlobLocation): Promise<Connection> {
    const account = azureAccount(this.#config, process.env, location.uri);
    // Sends keys and tokens to no other account than the configured one.
    if (location.host !== undefined && location.host.split(".")[0] !== account.name)
      throw new BlobError(location.uri, `stands in another storage account than ${account.name}, which is configured`);
    this.#connecting ??= new Lazy(() => connect(account, this.#config.maxConnections ?? 64));
    const loading = this.#connecting;
    return mapErrors(location.uri, () => loading.get());
  }
}

async function connect(account: AzureAccount, maxSockets: number): Promise<Connection> {
  const [sdk, { Agent }] = await Promise.all([
    import("@azure/storage-blob"),
    account.endpoint.startsWith("https:") ? import("node:https") : import("node:http"),
  ]);
  const agent = new Agent({ keepAlive: true, maxSockets });
  const options: Sdk.StoragePipelineOptions & { readonly agent: typeof agent } = {
    agent,
    retryOptions: { maxTries: 4, tryTimeoutInMs: 60_000, retryDelayInMs: 500, maxRetryDelayInMs: 8_000 },
  };
  const credential =
    account.key === undefined
      ? new (await import("@azure/identity")).DefaultAzureCredential()
      : new sdk.StorageSharedKeyCredential(account.name, account.key);
  const service = new sdk.BlobServiceClient(account.endpoint, credential, options);
  return { account, service, signer: new SasSigner(sdk, service, account, Date.now), close: () => agent.destroy() };
}

/** Block size of file uploads, bytes; the service allows 50,000 blocks per blob. */
const BLOCK_BYTES = 16 * 1024 * 1024;

interface Properties {
  readonly contentLength?: number;
  readonly contentMD5?: Uint8Array;
  readonly etag?: string;
  readonly lastModified?: Date;
}

function entryOf({ contentLength = 0, contentMD5, etag = "", lastModified = new Date(0) }: Properties): Omit<BlobEntry, "uri"> {
  return {
    size: contentLength,
    etag: contentMD5 === undefined || contentMD5.byteLength === 0 ? etag.replaceAll('"', "") : Buffer.from(contentMD5).toString("hex"),
    modifiedAt: lastModified,
  };
}
