import { type BlobAddress, type BlobScheme, joinUri, parseAddress } from "./address.js";
import { AzureDriver } from "./azure/azure-driver.js";
import type { AzureConfig } from "./azure/azure-account.js";
import { type BlobStore, MAX_SIGNED_SECONDS } from "./blob-store.js";
import { deleteEach } from "./delete-each.js";
import type { BlobDriver } from "./driver.js";
import { BlobAddressRefused, BlobError } from "./errors.js";
import { FileDriver } from "./file-driver.js";
import { GcsDriver } from "./gcs/gcs-driver.js";
import type { GcsConfig } from "./gcs/gcs-config.js";
import { type S3Config, S3Driver } from "./s3/s3-driver.js";

export interface BlobStoreConfig {
  readonly s3?: S3Config | undefined;
  readonly gcs?: GcsConfig | undefined;
  readonly azure?: AzureConfig | undefined;
  /**
   * Schemes of accepted addresses; default all. A service that accepts addresses from clients must restrict them:
   * otherwise `file:` opens local files, and other stores get requests with its credentials.
   */
  readonly schemes?: ReadonlySet<BlobScheme> | undefined;
}

/** Creates a blob store for all schemes. It connects, and loads an SDK, on the first call that needs it. */
export function createBlobStore(config: BlobStoreConfig): BlobStore {
  const drivers: Readonly<Record<BlobScheme, BlobDriver>> = {
    s3: new S3Driver(config.s3 ?? {}),
    gs: new GcsDriver(config.gcs ?? {}),
    abfs: new AzureDriver(config.azure ?? {}),
    file: new FileDriver(),
  };
  const driverOf = ({ uri, scheme }: BlobAddress) => {
    if (config.schemes?.has(scheme) === false)
      throw new BlobAddressRefused(uri, `addresses of ${scheme} are not served here, only of ${[...config.schemes].join(", ")}`);
    return drivers[scheme];
  };
  const at = (uri: string) => {
    const address = parseBlob(uri);
    return { address, driver: driverOf(address) };
  };
  return {
    get: async (uri, options = {}) => {
      const { address, driver } = at(uri);
      return driver.get(address, options);
    },
    put: async (uri, bytes, options = {}) => {
      const { address, driver } = at(uri);
      return driver.put(address, bytes, options);
    },
    getFile: async (uri, path) => {
      const { address, driver } = at(uri);
      return driver.getFile(address, path);
    },
    putFile: async (uri, path) => {
      const { address, driver } = at(uri);
      await driver.putFile(address, path);
    },
    head: async (uri) => {
      const { address, driver } = at(uri);
      return driver.head(address);
    },
    delete: async (uri) => {
      const { address, driver } = at(uri);
      return driver.delete(address);
    },
    deleteAll: async (uris) => {
      const byDriver = Map.groupBy(uris.map(parseBlob), driverOf);
      for (const [driver, addresses] of byDriver) {
        await (driver.deleteAll === undefined ? deleteEach(driver, addresses) : driver.deleteAll(addresses));
      }
    },
    list: (prefix) => {
      const address = parseAddress(prefix);
      return driverOf(address).list(address);
    },
    join: joinUri,
    signPut: async (uri, options) => {
      const { address, driver } = at(uri);
      if (driver.signPut === undefined) throw unsignable(uri);
      checkExpiry(uri, options);
      return driver.signPut(address, options);
    },
    signGet: async (uri, options) => {
      const { address, driver } = at(uri);
      if (driver.signGet === undefined) throw unsignable(uri);
      checkExpiry(uri, options);
      return driver.signGet(address, options);
    },
    close: () => {
      for (const driver of Object.values(drivers)) driver.close?.();
    },
  };
}

/** Schemes of these addresses. */
export function schemesOf(...uris: readonly string[]): ReadonlySet<BlobScheme> {
  return new Set(uris.map((uri) => parseAddress(uri).scheme));
}

function parseBlob(uri: string): BlobAddress {
  const address = parseAddress(uri);
  if (address.key === "") throw new BlobAddressRefused(uri, "names a bucket, not a blob");
  return address;
}

const unsignable = (uri: string) => new BlobError(uri, "files of a machine cannot be signed for others");

function checkExpiry(uri: string, { expiresInSeconds }: { readonly expiresInSeconds: number }): void {
  if (!(expiresInSeconds >= 1 && expiresInSeconds <= MAX_SIGNED_SECONDS))
    throw new BlobError(uri, `a signed address lives 1 to ${MAX_SIGNED_SECONDS} seconds, not ${expiresInSeconds}`);
}
