import type { ServiceManifest } from "./manifest-schema.js";
import type { NetworkPeer } from "./network-peers.js";

/**
 * Returns each setting that names a peer, as a path with `*` for any key, with the kind of peer.
 */
export function connectionsOf({ requires, connects, auth, plane }: ServiceManifest): Readonly<Record<string, NetworkPeer>> {
  const { database, bus, blobStore, kubernetes, admin, catalog } = requires;
  const isRemote = plane === "data";
  return {
    ...(database && { "database.url": "database" }),
    ...(bus && { "nats.url": "bus" }),
    ...(blobStore && {
      "storage.s3.endpoint": "blobs",
      "storage.gcs.endpoint": "cloudBlobs",
      "storage.azure.endpoint": "cloudBlobs",
    }),
    ...(blobStore?.presigns && { "storage.gcs.signingEndpoint": "https" }),
    ...(kubernetes === "own" && { "kubernetes.kubeconfig": "kubernetes", "kubernetes.endpoint": "kubernetes" }),
    ...(kubernetes === "data-planes" && { "clusters.*.kubeconfig": "kubernetes", "clusters.*.endpoint": "kubernetes" }),
    ...(auth && {
      "auth.providers.*.issuer": "https",
      "auth.providers.*.metadataUrl": "https",
      "auth.providers.*.keysUrl": "https",
    }),
    ...(admin && { "admin.endpoint": isRemote ? "remoteAdmin" : "localAdmin", "admin.auth.tokenEndpoint": "https" }),
    ...(catalog && { "catalog.endpoint": "remoteCatalog", "catalog.auth.tokenEndpoint": "https" }),
    ...connects,
  };
}
