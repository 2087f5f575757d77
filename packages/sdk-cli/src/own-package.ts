import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Folder of this package: above a build, and above its bundle. */
export const PACKAGE_FOLDER: string = findFolder(dirname(fileURLToPath(import.meta.url)));

/** Version of the packages of the SDK, which are released together. */
export const SDK_VERSION: string = (JSON.parse(readFileSync(join(PACKAGE_FOLDER, "package.json"), "utf8")) as { readonly version: string })
  .version;

function findFolder(folder: string): string {
  return existsSync(join(folder, "package.json")) ? folder : findFolder(dirname(folder));
}
