import { readFileSync } from "node:fs";
import type { ChannelTls } from "@flyte-ts/rpc";
import type { EndpointConfig } from "./endpoint-config.js";

/**
 * Reads the certificates of an endpoint; undefined when it has none of its own.
 *
 * @throws Error of the file system when a file cannot be read.
 */
export function readTlsFiles(tls: EndpointConfig["tls"]): ChannelTls | undefined {
  if (tls === undefined) return undefined;
  const read = (path: string | undefined) => (path === undefined ? undefined : readFileSync(path));
  return {
    roots: read(tls.rootsFile),
    certificate: read(tls.certificateFile),
    privateKey: read(tls.privateKeyFile),
    serverName: tls.serverName,
  };
}

export function sameTls(one: ChannelTls | undefined, other: ChannelTls | undefined): boolean {
  return (["roots", "certificate", "privateKey"] as const).every((name) => sameBytes(one?.[name], other?.[name]));
}

function sameBytes(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}
