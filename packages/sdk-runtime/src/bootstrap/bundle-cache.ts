import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BlobAccess } from "../blob/blob-access.js";
import { isTransient } from "../blob/with-retries.js";
import { SYSTEM_FAILURE } from "../failure/error-class.js";
import { BootstrapError } from "./bootstrap-error.js";
import { readTar } from "./untar.js";

/** Maximum size of a bundle, bytes: compressed, and unpacked. */
const MAX_BUNDLE_BYTES = 512 << 20;
const MAX_UNPACKED_BYTES = 2 ** 31 - 1;

export interface BundleAddress {
  readonly uri: string;
  /** SHA-256 of the archive in hex. */
  readonly digest: string;
}

/**
 * Returns the folder of an unpacked bundle. Bundles are kept by their digest, and fetched once. An
 * archive with another digest is never unpacked.
 *
 * @param root folder of all bundles, from `bundleRoot`
 * @throws BootstrapError
 */
export async function fetchBundle(blobs: BlobAccess, { uri, digest }: BundleAddress, root: string): Promise<string> {
  const folder = join(root, digest);
  if (existsSync(folder)) return folder;
  const archive = await readArchive(blobs, uri);
  const found = createHash("sha256").update(archive).digest("hex");
  if (found !== digest)
    throw new BootstrapError(`the bundle at ${uri} has the digest ${found}, not ${digest} as registered`, SYSTEM_FAILURE);
  unpack(archive, folder);
  return folder;
}

async function readArchive(blobs: BlobAccess, uri: string): Promise<Uint8Array> {
  let archive: Uint8Array | undefined;
  try {
    archive = await blobs.read(uri, { maxBytes: MAX_BUNDLE_BYTES });
  } catch (cause) {
    const advice = isTransient(cause) ? "" : "; the pod needs read access to it";
    throw new BootstrapError(`the bundle cannot be read: ${(cause as Error).message}${advice}`, SYSTEM_FAILURE, { cause });
  }
  if (archive === undefined) throw new BootstrapError(`there is no bundle at ${uri}; register the project again`, SYSTEM_FAILURE);
  return archive;
}

/** Unpacks to a folder that other processes see only when it is complete. */
function unpack(archive: Uint8Array, folder: string): void {
  // Most tasks find their bundle unpacked.
  const { gunzipSync } = process.getBuiltinModule("node:zlib");
  const staged = mkdtempSync(`${folder}.`);
  try {
    for (const { path, content, executable } of readTar(gunzipSync(archive, { maxOutputLength: MAX_UNPACKED_BYTES }))) {
      const file = join(staged, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, content, { mode: executable ? 0o755 : 0o644, flag: "wx" });
    }
    renameSync(staged, folder);
  } catch (cause) {
    rmSync(staged, { recursive: true, force: true });
    // Another process may have unpacked the same bundle meanwhile.
    if (existsSync(folder)) return;
    throw new BootstrapError(`the bundle cannot be unpacked: ${(cause as Error).message}`, SYSTEM_FAILURE, { cause });
  }
}
