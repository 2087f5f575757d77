import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { ServiceManifest } from "./manifest-schema.js";
import { sortServices } from "./sort-services.js";

/** A service and the folder of its package. */
export interface LocatedService {
  readonly manifest: ServiceManifest;
  /** Absolute path of its package. */
  readonly folder: string;
}

/** Tests run from sources, programs from what was built. */
const FILE = basename(dirname(fileURLToPath(import.meta.url))) === "src" ? "src/manifest.ts" : "dist/manifest.js";

/**
 * Loads the manifest of every service in the folder `services` of a checkout, and of the packages
 * in further folders. Loading a manifest starts nothing.
 *
 * @throws Error when two services have the same id, or a manifest is wrong
 */
export async function loadServices(repository: string, furtherFolders: readonly string[] = []): Promise<readonly LocatedService[]> {
  const roots = [join(repository, "services"), join(repository, "services", "plugins"), ...furtherFolders.map((folder) => resolve(folder))];
  const folders = roots
    .flatMap((root) => readdirSync(root).map((name) => join(root, name)))
    .filter((folder) => existsSync(join(folder, FILE)));
  const located = await Promise.all(folders.map(async (folder) => ({ folder, manifest: await importManifest(join(folder, FILE)) })));
  for (const { manifest, folder } of located) {
    const other = located.find((each) => each.folder !== folder && each.manifest.id === manifest.id);
    if (other !== undefined) throw new Error(`${folder} and ${other.folder} both have the id ${manifest.id}`);
  }
  return sortServices(located, ({ manifest }) => manifest);
}

async function importManifest(file: string): Promise<ServiceManifest> {
  const { manifest } = (await import(pathToFileURL(file).href)) as { readonly manifest?: ServiceManifest };
  if (manifest === undefined) throw new Error(`${file} must export its manifest as \`manifest\``);
  return manifest;
}
