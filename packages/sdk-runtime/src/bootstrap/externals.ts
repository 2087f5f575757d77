import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { type BundledTask, type BundleManifest, type ExternalPackage, MANIFEST_FILE, thisPlatform } from "../manifest.js";
import type { ErrorClass } from "../failure/error-class.js";
import { BootstrapError } from "./bootstrap-error.js";

const MISSING: ErrorClass = { code: "USER:MissingPackage", recoverable: false, origin: "user" };

/**
 * Makes the packages that a bundle leaves outside available to its modules, and checks that they
 * are those with which it was made.
 *
 * @param searched folders in whose parents the image's packages are searched
 * @throws BootstrapError in one line that names package, version and the place that imports it
 */
export function prepareExternals(
  folder: string,
  { task, searched }: { readonly task: { readonly module: string; readonly name: string }; readonly searched: readonly string[] },
): void {
  const manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), "utf8")) as BundleManifest;
  if (manifest.externals.length === 0) return;
  const bundled = manifest.tasks.find((entry) => entry.module === task.module && entry.export === task.name);
  const needed = manifest.externals.filter(({ name }) => bundled?.externals.includes(name) ?? true);
  if (manifest.externalsFrom === "bundle") {
    checkPlatform(manifest);
    return;
  }
  for (const external of needed) {
    const modules = findModules(searched, external);
    if (modules === undefined) throw missing(external, bundled);
    link(folder, external, modules);
  }
}

function checkPlatform({ platform }: BundleManifest): void {
  const here = thisPlatform();
  if (platform === undefined || platform === here) return;
  throw new BootstrapError(
    `the bundle's native packages are for ${platform}, this machine is ${here}; register on such a machine, or set externalsFrom: "image"`,
    MISSING,
  );
}

/** Returns the folder of a package with this version. */
function findModules(searched: readonly string[], { name, version }: ExternalPackage): string | undefined {
  for (const start of searched) {
    for (let folder = start; ; folder = dirname(folder)) {
      const found = join(folder, "node_modules", name);
      if (versionIn(found) === version) return found;
      if (dirname(folder) === folder) break;
    }
  }
  return undefined;
}

function versionIn(folder: string): string | undefined {
  const file = join(folder, "package.json");
  if (!existsSync(file)) return undefined;
  return (JSON.parse(readFileSync(file, "utf8")) as { readonly version?: string }).version;
}

/**
 * Links a package of the image into the bundle's folder, where Node searches what its modules
 * import.
 */
function link(folder: string, { name, version }: ExternalPackage, target: string): void {
  const path = join(folder, "node_modules", name);
  if (versionIn(path) === version) return;
  rmSync(path, { force: true });
  mkdirSync(dirname(path), { recursive: true });
  try {
    symlinkSync(target, path);
  } catch (error) {
    // Another process may have made the same link meanwhile.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function missing({ name, version, importedAt }: ExternalPackage, task: BundledTask | undefined): BootstrapError {
  const [first = "its code"] = importedAt;
  const place = importedAt.find((known) => task !== undefined && known.includes(`${task.module}.`)) ?? first;
  const importer = `${task?.name ?? "the bundle"} imports at ${place}`;
  return new BootstrapError(
    `the image has no ${name} ${version}, which ${importer}; add it to the image or set externalsFrom: "bundle"`,
    MISSING,
  );
}
