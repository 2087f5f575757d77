import { type BlobLocation, type BlobScheme, joinUri, parseBlobUri } from "./blob-uri.js";
import { AzureDriver } from "./azure/azure-driver.js";
import type { AzureConfig } from "./azure/azure-account.js";
import { type BlobStore, MAX_PRESIGN_SECONDS } from "./blob-store.js";
import { deleteOneByOne } from "./delete-one-by-one.js";
import type { BlobDriver } from "./driver.js";
import { BlobUriError, BlobError } from "./errors.js";
import { FileDriver } from "./file-driver.js";
import { GcsDriver } from "./gcs/gcs-driver.js";
import type { GcsConfig } from "./gcs/gcs-config.js";
import { type S3Config, S3Driver } from "./s3/s3-driver.js";

export interface BlobStoreConfig {
  readonly s3?: S3Config | undefined;
  readonly gcs?: GcsConfig | undefined;
  readonly azure?: AzureConfig | undefined;
  /**
   * Schemes of accepted addresses; default all. A service that accepts addresses from clients must
   * restrict them: otherwise `file:` opens local files, and other stores get requests with its
   * credentials.
   */
  readonly schemes?: ReadonlySet<BlobScheme> | undefined;
}

/**
 * Creates a blob store for all schemes. It connects, and loads an SDK, on the first call that needs
 * it.
 */
export function createBlobStore(config: BlobStoreConfig): BlobStore {
  const drivers: Readonly<Record<BlobScheme, BlobDriver>> = {
    s3: new S3Driver(config.s3 ?? {}),
    gs: new GcsDriver(config.gcs ?? {}),
    abfs: new AzureDriver(config.azure ?? {}),
    file: new FileDriver(),
  };
  const driverOf = ({ uri, scheme }: BlobLocation) => {
    if (config.schemes?.has(scheme) === false)
      throw new BlobUriError(uri, `addresses of ${scheme} are not served here, only of ${[...config.schemes].join(", ")}`);
    return drivers[scheme];
  };
  const resolve = (uri: string) => {
    const location = parseObjectUri(uri);
    return { location, driver: driverOf(location) };
  };
  return {
    get: async (uri, options = {}) => {
      const { location, driver } = resolve(uri);
      return driver.get(location, options);
    },
    put: async (uri, bytes, options = {}) => {
      const { location, driver } = resolve(uri);
      return driver.put(location, bytes, options);
    },
    getFile: async (uri, path) => {
      const { location, driver } = resolve(uri);
      return driver.getFile(location, path);
    },
    putFile: async (uri, path) => {
      const { location, driver } = resolve(uri);
      await driver.putFile(location, path);
    },
    head: async (uri) => {
      const { location, driver } = resolve(uri);
      return driver.head(location);
    },
    delete: async (uri) => {
      const { location, driver } = resolve(uri);
      return driver.delete(location);
    },
    deleteAll: async (uris) => {
      const byDriver = Map.groupBy(uris.map(parseObjectUri), driverOf);
      for (const [driver, locations] of byDriver) {
        await (driver.deleteAll === undefined ? deleteOneByOne(driver, locations) : driver.deleteAll(locations));
      }
    },
    list: (prefix) => {
      const location = parseBlobUri(prefix);
      return driverOf(location).list(location);
    },
    join: joinUri,
    presignPut: async (uri, options) => {
      const { location, driver } = resolve(uri);
      if (driver.presignPut === undefined) throw presignUnsupported(uri);
      checkPresignExpiry(uri, options);
      return driver.presignPut(location, options);
    },
    presignGet: async (uri, options) => {
      const { location, driver } = resolve(uri);
      if (driver.presignGet === undefined) throw presignUnsupported(uri);
      checkPresignExpiry(uri, options);
      return driver.presignGet(location, options);
    },
    close: () => {
      for (const driver of Object.values(drivers)) driver.close?.();
    },
  };
}

/** Schemes of these addresses. */
export function schemesOf(...uris: readonly string[]): ReadonlySet<BlobScheme> {
  return new Set(uris.map((uri) => parseBlobUri(uri).scheme));
}

function parseObjectUri(uri: string): BlobLocation {
  const location = parseBlobUri(uri);
  if (location.key === "") throw new BlobUriError(uri, "names a bucket without an object key");
  return location;
}

const presignUnsupported = (uri: string) => new BlobError(uri, "addresses of local files cannot be signed");

function checkPresignExpiry(uri: string, { expiresInSeconds }: { readonly expiresInSeconds: number }): void {
  if (!(expiresInSeconds >= 1 && expiresInSeconds <= MAX_PRESIGN_SECONDS))
    throw new BlobError(uri, `a signed address lives 1 to ${MAX_PRESIGN_SECONDS} seconds, not ${expiresInSeconds}`);
}
