import type * as Sdk from "@azure/storage-blob";
import { Lazy } from "@flyte-ts/async";
import type { BlobAddress } from "../address.js";
import type { BlobEntry, BlobHead, GetOptions, PutOptions, SignedRequest, SignGetOptions, SignPutOptions } from "../blob-store.js";
import type { BlobDriver } from "../driver.js";
import { BlobError, BlobTooLarge } from "../errors.js";
import { type AzureAccount, azureAccount, type AzureConfig } from "./azure-account.js";
import { codeOf, found, guarded } from "./azure-failure.js";
import { AzureSigner, type SignInput } from "./sign.js";

interface Loaded {
  readonly account: AzureAccount;
  readonly service: Sdk.BlobServiceClient;
  readonly signer: AzureSigner;
  readonly close: () => void;
}

/** Block blobs in an Azure storage account. The SDK is loaded on the first call, since loading is slow. */
export class AzureDriver implements BlobDriver {
  readonly #config: AzureConfig;
  #loading: Lazy<Loaded> | undefined;

  constructor(config: AzureConfig) {
    this.#config = config;
  }

  async get(address: BlobAddress, { maxBytes }: GetOptions): Promise<Uint8Array | undefined> {
    const { uri } = address;
    const blob = await this.#blob(address);
    return guarded(uri, async () => {
      const answer = await found(blob.download(0, undefined, { maxRetryRequests: 3 }));
      if (answer?.readableStreamBody === undefined) return undefined;
      const stream = answer.readableStreamBody;
      const size = answer.contentLength ?? 0;
      if (maxBytes !== undefined && size > maxBytes) {
        if ("destroy" in stream && typeof stream.destroy === "function") stream.destroy();
        throw new BlobTooLarge(uri, size, maxBytes);
      }
      const parts: Uint8Array[] = [];
      for await (const part of stream) parts.push(Buffer.from(part));
      return Buffer.concat(parts);
    });
  }

  async put(address: BlobAddress, bytes: Uint8Array, options: PutOptions): Promise<"written" | "exists"> {
    const blob = await this.#blob(address);
    const { contentType, metadata, ifNoneMatch } = options;
    return guarded(address.uri, async () => {
      try {
        await blob.upload(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), bytes.byteLength, {
          ...(ifNoneMatch === true && { conditions: { ifNoneMatch: "*" } }),
          ...(contentType !== undefined && { blobHTTPHeaders: { blobContentType: contentType } }),
          ...(metadata !== undefined && { metadata: { ...metadata } }),
        });
        return "written";
      } catch (error) {
        if (ifNoneMatch === true && ["BlobAlreadyExists", "ConditionNotMet"].includes(codeOf(error))) return "exists";
        throw error;
      }
    });
  }

  async getFile(address: BlobAddress, path: string): Promise<boolean> {
    const blob = await this.#blob(address);
    const answer = await guarded(address.uri, () => found(blob.downloadToFile(path, 0, undefined, { maxRetryRequests: 3 })));
    return answer !== undefined;
  }

  async putFile(address: BlobAddress, path: string): Promise<void> {
    const blob = await this.#blob(address);
    await guarded(address.uri, () => blob.uploadFile(path, { blockSize: BLOCK_BYTES, concurrency: 4 }));
  }

  async head(address: BlobAddress): Promise<BlobHead | undefined> {
    const blob = await this.#blob(address);
    const known = await guarded(address.uri, () => found(blob.getProperties()));
    if (known === undefined) return undefined;
    const metadata = Object.entries(known.metadata ?? {}).map(([name, value]) => [name.toLowerCase(), value]);
    return { ...entryOf(known), metadata: Object.fromEntries(metadata) };
  }

  async delete(address: BlobAddress): Promise<void> {
    const blob = await this.#blob(address);
    await guarded(address.uri, async () => {
      try {
        await found(blob.delete());
      } catch (error) {
        // With a hierarchical namespace folders are listed as blobs.
        if (codeOf(error) !== "DirectoryIsNotEmpty") throw error;
      }
    });
  }

  async *list(address: BlobAddress): AsyncGenerator<BlobEntry> {
    const { uri, root, container, key } = address;
    const { service } = await this.#load(address);
    const pages = service.getContainerClient(container).listBlobsFlat({ prefix: key }).byPage({ maxPageSize: 1_000 });
    for (;;) {
      const page = await guarded(uri, () => pages.next());
      if (page.done === true) return;
      for (const { name, properties } of page.value.segment.blobItems) yield { uri: `${root}${name}`, ...entryOf(properties) };
    }
  }

  async signPut(
    address: BlobAddress,
    { expiresInSeconds, contentMd5, createOnly = false, metadata = {} }: SignPutOptions,
  ): Promise<SignedRequest> {
    // An Azure signature covers no headers, hence no MD5. With create (c) but without write (w) permission the URL
    // creates a blob and replaces none.
    const permissions = contentMd5 === undefined && !createOnly ? "cw" : "c";
    const kept = Object.entries(metadata).map(([name, value]) => [`x-ms-meta-${name}`, value]);
    return {
      url: await this.#sign(address, { permissions, expiresInSeconds }),
      headers: {
        // Required by the service for uploads.
        "x-ms-blob-type": "BlockBlob",
        ...Object.fromEntries(kept),
        ...(contentMd5 !== undefined && { "Content-MD5": contentMd5 }),
      },
    };
  }

  async signGet(address: BlobAddress, { expiresInSeconds }: SignGetOptions): Promise<SignedRequest> {
    return { url: await this.#sign(address, { permissions: "r", expiresInSeconds }), headers: {} };
  }

  close(): void {
    this.#loading?.loaded?.then(
      ({ close }) => close(),
      () => undefined,
    );
  }

  async #sign(address: BlobAddress, request: Pick<SignInput, "permissions" | "expiresInSeconds">): Promise<string> {
    const { account, signer } = await this.#load(address);
    const { uri, container, key } = address;
    const signature = await guarded(uri, () => signer.sign({ container, key, ...request }));
    const path = [container, ...key.split("/")].map(encodeURIComponent).join("/");
    return `${account.publicEndpoint}/${path}?${signature}`;
  }

  async #blob(address: BlobAddress): Promise<Sdk.BlockBlobClient> {
    const { service } = await this.#load(address);
    return service.getContainerClient(address.container).getBlockBlobClient(address.key);
  }

  async #load(address: BlobAddress): Promise<Loaded> {
    const account = azureAccount(this.#config, process.env, address.uri);
    // Sends keys and tokens to no other account than the configured one.
    if (address.host !== undefined && address.host.split(".")[0] !== account.name)
      throw new BlobError(address.uri, `stands in another storage account than ${account.name}, which is configured`);
    this.#loading ??= new Lazy(() => connect(account, this.#config.maxConnections ?? 64));
    const loading = this.#loading;
    return guarded(address.uri, () => loading.get());
  }
}

async function connect(account: AzureAccount, maxSockets: number): Promise<Loaded> {
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
  return { account, service, signer: new AzureSigner(sdk, service, account, Date.now), close: () => agent.destroy() };
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
