import { createHash } from "node:crypto";
import { VERSION } from "rolldown";
import { SDK_VERSION } from "../own-package.js";
import type { BundleFile } from "./build-modules.js";
import type { CodeHash } from "./code-hash.js";
import type { BundlePurpose } from "./entry-source.js";
import { KeptFile } from "./kept-file.js";

export type CodeHashes = ReadonlyMap<string, CodeHash>;

export interface BundledTasks {
  /** Modules of the bundle. */
  readonly files: readonly BundleFile[];
  /** Names of its tasks. */
  readonly tasks: readonly string[];
  readonly purpose: BundlePurpose;
}

/**
 * Returns the hashes of tasks by their names. Those of the last bundle of each purpose are kept
 * below `.flyte-ts`: a bundle holds all the code of its tasks, so that equal bundles have equal
 * hashes.
 */
export async function keptHashes(
  root: string,
  { files, tasks, purpose }: BundledTasks,
  compute: () => Promise<CodeHashes>,
): Promise<CodeHashes> {
  const file = new KeptFile<[string, CodeHash][]>(root, `code-hashes-${purpose}.json`);
  const key = keyOf(files, tasks);
  const kept = file.find(key);
  if (kept !== undefined) return new Map(kept);
  const hashes = await compute();
  file.keep(key, [...hashes]);
  return hashes;
}

function keyOf(files: readonly BundleFile[], tasks: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify([SDK_VERSION, VERSION, tasks]));
  for (const { path, content } of files) hash.update(`\0${path}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}
