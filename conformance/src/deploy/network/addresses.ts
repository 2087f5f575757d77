import { connectionsOf, NETWORK_PEERS } from "@flyte-ts/service-manifest";
import { DEPLOYED } from "../../services.js";

/** Setting that names a peer → ports at which network policies let the service reach it. */
export type AddressPorts = Readonly<Record<string, readonly number[]>>;

/**
 * Settings of each service that name an address to which it connects. Besides name resolution (port
 * 53), a service reaches only these addresses outside of flyte-ts. It reaches other services in the
 * same cluster by the names of their Services.
 */
export const ADDRESSES: Readonly<Record<string, AddressPorts>> = Object.fromEntries(
  DEPLOYED.map(({ manifest }) => [
    manifest.id,
    Object.fromEntries(Object.entries(connectionsOf(manifest)).map(([setting, peer]) => [setting, NETWORK_PEERS[peer]])),
  ]),
);

/**
 * Ports of the link-local addresses from which clouds serve the credentials of a pod's service
 * account; no setting names them.
 */
export const METADATA_PORTS: readonly number[] = [80, 988];

/**
 * Settings whose names look like addresses but to which no service connects: addresses that it
 * listens on or reports to clients.
 */
export const NOT_OUTBOUND: ReadonlySet<string> = new Set([
  "ops.host",
  "server.host",
  "auth.publicUrl",
  "auth.roles.*.issuer",
  "storage.s3.publicEndpoint",
  "storage.gcs.publicEndpoint",
  "storage.azure.publicEndpoint",
  "logLinks.*.uris.*",
  "spark.historyServerUrl",
]);

/** Reports whether the name of a setting says that it is an address. */
export function isAddress(path: string): boolean {
  return /(?:^|\.)(?:[a-zA-Z]*(?:url|Url|urlFrom|uris|host|[eE]ndpoint|endpoints|issuer|address|server)|kubeconfig)(?:\.\*|\.file|\.env)?$/.test(
    path,
  );
}
