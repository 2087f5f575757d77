import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "rolldown";
import { SDK_VERSION } from "../own-package.js";
import type { BundleFile } from "./build-modules.js";
import type { CodeHash } from "./code-hash.js";
import type { BundlePurpose } from "./entry-source.js";

export type CodeHashes = ReadonlyMap<string, CodeHash>;

interface KeptHashes {
  readonly key: string;
  readonly hashes: readonly (readonly [string, CodeHash])[];
}

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
  const place = join(root, ".flyte-ts", `code-hashes-${purpose}.json`);
  const key = keyOf(files, tasks);
  const kept = read(place);
  if (kept?.key === key) return new Map(kept.hashes);
  const hashes = await compute();
  write(place, { key, hashes: [...hashes] });
  return hashes;
}

function keyOf(files: readonly BundleFile[], tasks: readonly string[]): string {
  const hash = createHash("sha256").update(JSON.stringify([SDK_VERSION, VERSION, tasks]));
  for (const { path, content } of files) hash.update(`\0${path}\0${content.length}\0`).update(content);
  return hash.digest("hex");
}

function read(place: string): KeptHashes | undefined {
  try {
    return JSON.parse(readFileSync(place, "utf8")) as KeptHashes;
  } catch {
    return undefined;
  }
}

function write(place: string, kept: KeptHashes): void {
  const written = `${place}.${process.pid}`;
  try {
    mkdirSync(dirname(place), { recursive: true });
    writeFileSync(written, JSON.stringify(kept));
    renameSync(written, place);
  } catch {
    // A folder that cannot be written costs time alone.
  }
}
