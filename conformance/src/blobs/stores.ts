import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BlobStoreConfig } from "@flyte-ts/blobstore";
import {
  findAzurite,
  findFakeGcsServer,
  type InstallOptions,
  findVersitygw,
  startAzurite,
  startFakeGcsServer,
  startVersitygw,
} from "@flyte-ts/test-servers";
import { freePort } from "@flyte-ts/host";
import { startService } from "../stack/service-process.js";

/** A server on which the cases run. */
export interface TestedStore {
  /** URI of a bucket or folder. */
  readonly uri: string;
  readonly config: BlobStoreConfig;
  /** The same configuration with wrong keys; absent for stores without keys. */
  readonly wrongKeys?: BlobStoreConfig;
  /** Environment by which flytekit's file system finds the store. */
  readonly env?: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Capabilities in which the kinds of store differ. */
export interface StoreKind {
  readonly name: string;
  /** The store signs URLs. */
  readonly signsUrls: boolean;
  /** The server verifies signatures and checksums of uploads. */
  readonly verifiesUploads: boolean;
  /** A signature can require headers of the upload. */
  readonly enforcesHeaders: boolean;
  /**
   * Header by which a signed upload requires that no blob exists, for servers that ignore it: the
   * emulator of Google reads this condition from the query alone.
   */
  readonly ignoredCondition?: string;
  /** The store distinguishes a missing bucket from a missing blob. */
  readonly reportsMissingBucket: boolean;
  /** The store keeps metadata and the MD5 of the content. */
  readonly keepsMetadata: boolean;
  /** Header of metadata in uploads. */
  readonly metadataHeader: string;
  readonly find?: (options: InstallOptions) => Promise<string>;
  start(folder: string): Promise<TestedStore>;
}

const KEYS = { accessKeyId: "minio", secretAccessKey: "miniostorage" };
const ACCOUNT = { account: "flytets", accountKey: Buffer.from("the key of an account, only here").toString("base64") };
const OTHER = Buffer.from("the key of some other account").toString("base64");

const s3 = {
  signsUrls: true,
  verifiesUploads: true,
  enforcesHeaders: true,
  reportsMissingBucket: true,
  keepsMetadata: true,
  metadataHeader: "x-amz-meta-",
} as const;

const s3At = (endpoint: string) => ({
  uri: "s3://bucket",
  config: { s3: { endpoint, ...KEYS } },
  wrongKeys: { s3: { endpoint, ...KEYS, secretAccessKey: "not the secret" } },
});

export const STORES: readonly StoreKind[] = [
  {
    name: "files",
    signsUrls: false,
    verifiesUploads: false,
    enforcesHeaders: false,
    reportsMissingBucket: false,
    keepsMetadata: false,
    metadataHeader: "",
    start: async (folder) => ({ uri: `file://${folder}`, config: {}, stop: async () => undefined }),
  },
  {
    name: "local-blobstore",
    ...s3,
    start: async (folder) => {
      const [port, ops] = await Promise.all([freePort(), freePort()]);
      const config = { port, ops: { port: ops }, dataDir: join(folder, "blobs"), buckets: ["bucket"], ...KEYS };
      const server = await startService({ name: "blobs", service: "local-blobstore", folder, readyPort: ops, config });
      return { ...s3At(`http://127.0.0.1:${port}`), stop: () => server.stop() };
    },
  },
  {
    name: "versitygw",
    ...s3,
    find: ({ onProgress: onBuild }) => findVersitygw(onBuild),
    start: async (folder) => {
      const server = await startVersitygw({ dataDir: folder, buckets: ["bucket"], ...KEYS });
      return { ...s3At(server.url), stop: () => server.stop() };
    },
  },
  {
    name: "azurite",
    signsUrls: true,
    verifiesUploads: true,
    enforcesHeaders: false,
    reportsMissingBucket: true,
    keepsMetadata: true,
    metadataHeader: "x-ms-meta-",
    find: findAzurite,
    start: async (folder) => {
      const server = await startAzurite({ dataDir: folder, containers: ["container"], ...ACCOUNT });
      const azure = { ...ACCOUNT, endpoint: server.url };
      const wrong = { azure: { ...azure, accountKey: OTHER } };
      const connection = `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT.account};AccountKey=${ACCOUNT.accountKey};BlobEndpoint=${server.url}`;
      const env = { AZURE_STORAGE_CONNECTION_STRING: connection };
      return { uri: "abfs://container", config: { azure }, wrongKeys: wrong, env, stop: () => server.stop() };
    },
  },
  {
    name: "fake-gcs-server",
    signsUrls: true,
    verifiesUploads: false,
    enforcesHeaders: false,
    ignoredCondition: "x-goog-if-generation-match",
    reportsMissingBucket: false,
    keepsMetadata: true,
    metadataHeader: "x-goog-meta-",
    find: findFakeGcsServer,
    start: async (folder) => {
      const keyFile = join(folder, "key.json");
      const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
      const key = {
        type: "service_account",
        client_email: "test@example.com",
        private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
      };
      writeFileSync(keyFile, JSON.stringify(key));
      const data = join(folder, "data");
      mkdirSync(data);
      const server = await startFakeGcsServer({ dataDir: data, buckets: ["bucket"] });
      process.env["GOOGLE_APPLICATION_CREDENTIALS"] = keyFile;
      const stop = () => {
        delete process.env["GOOGLE_APPLICATION_CREDENTIALS"];
        return server.stop();
      };
      const env = { STORAGE_EMULATOR_HOST: server.url };
      return { uri: "gs://bucket", config: { gcs: { endpoint: server.url, anonymous: true } }, env, stop };
    },
  },
];

/**
 * Returns the reason why a store cannot be tested here. Emulators that take minutes to install are
 * installed only with `BLOB_SERVERS=all`.
 */
export async function storeUnavailable({ name, find }: StoreKind): Promise<string | undefined> {
  const get = name === "versitygw" || process.env["BLOB_SERVERS"] === "all";
  const onBuild = (what: string) => void process.stderr.write(`getting ${what} (once) …\n`);
  try {
    await find?.({ onProgress: onBuild, install: get });
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message.replaceAll("\n", "; ") : String(error);
    process.stderr.write(`skipped, no ${name}: ${reason}\n`);
    return reason;
  }
}

/** Starts a store over a new folder, which is deleted with it. */
export async function startStore(kind: StoreKind): Promise<TestedStore> {
  const folder = mkdtempSync(join(tmpdir(), `flyte-ts-${kind.name}-`));
  const started = await kind.start(folder);
  return {
    ...started,
    stop: async () => {
      await started.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
