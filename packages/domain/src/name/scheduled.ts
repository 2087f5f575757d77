import { fnv64 } from "./hash.js";

/**
 * Name of the execution that a schedule starts for a time: always the same, so that who starts it again starts nothing.
 * It is the name that Flyte's own scheduler gives.
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
  // The first 19 digits of 16 bytes, of which the hash fills eight.
  return `f${bytes.toString("hex")}000`;
}
