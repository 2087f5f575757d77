import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { root } from "../repository.js";

/** Version that the packed packages have. */
export const PACKED_VERSION = "9.9.9";

/** The published packages of this tree, packed as npm publishes them. */
export interface PackedPackages {
  /** Folders of the packages as they are packed. */
  readonly folders: readonly string[];
  /** Folder of the archives. */
  readonly archives: string;
}

/** Packs published packages, and those that they depend on, below an existing folder. */
export function packPublishedPackages(folder: string, packages: readonly string[] = ["client", "task-plugin"]): PackedPackages {
  const options = ["--version", PACKED_VERSION, "--to", join(folder, "released"), ...packages];
  const output = execFileSync(process.execPath, [join(root, "scripts/release-packages.mjs"), ...options], { encoding: "utf8" });
  const folders = output.trim().split("\n");
  const archives = join(folder, "archives");
  mkdirSync(archives);
  execFileSync("npm", ["pack", "--silent", "--pack-destination", archives, ...folders], { stdio: "ignore" });
  return { folders, archives };
}
