import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { VERSION } from "rolldown";
import { SDK_VERSION } from "../own-package.js";
import type { BundleFile } from "./build-modules.js";
import type { CodeHash } from "./code-hash.js";

export type CodeHashes = ReadonlyMap<string, CodeHash>;

interface KeptHashes {
  readonly key: string;
  readonly hashes: readonly (readonly [string, CodeHash])[];
}

/**
 * Returns the hashes of tasks by their names. Those of the last bundle are kept below `.flyte-ts`:
 * a bundle holds all the code of its tasks, so that equal bundles have equal hashes.
 *
 * @param files the modules of the bundle
 */
export async function keptHashes(
  root: string,
  { files, tasks }: { readonly files: readonly BundleFile[]; readonly tasks: readonly string[] },
  compute: () => Promise<CodeHashes>,
): Promise<CodeHashes> {
  const place = join(root, ".flyte-ts", "code-hashes.json");
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
