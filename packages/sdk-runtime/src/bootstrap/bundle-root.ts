import { lstatSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Returns the folder of all bundles: the one that the environment names, else one below the folder
 * for temporary files that belongs to this user alone.
 */
export function bundleRoot(environment: Readonly<Record<string, string | undefined>>): string {
  const configured = environment["FLYTE_TS_BUNDLE_CACHE"];
  if (configured) {
    mkdirSync(configured, { recursive: true });
    return configured;
  }
  const own = join(tmpdir(), `flyte-ts-bundles-${process.getuid?.() ?? 0}`);
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(own);
  const isPrivate = lstatSync(own).isDirectory() && uid === (process.getuid?.() ?? uid) && (mode & 0o022) === 0;
  return isPrivate ? own : mkdtempSync(join(tmpdir(), "flyte-ts-bundles-"));
}
