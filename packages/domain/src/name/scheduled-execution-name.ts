import { fnv64 } from "./hash.js";

/**
 * Name of the execution that a schedule starts for a time; deterministic, so that a repeated start
 * has no effect. Flyte's own scheduler uses the same name.
 *
 * @param at ms since the epoch.
 */
export function scheduledExecutionName(
  {
    project,
    domain,
    name,
    version,
  }: { readonly project: string; readonly domain: string; readonly name: string; readonly version: string },
  at: number,
): string {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(fnv64(`${project}:${domain}:${name}:${version}:${Math.floor(at / 1000)}`));
  // The first 19 hex digits of 16 bytes, of which the hash fills eight.
  return `f${bytes.toString("hex")}000`;
}
