/**
 * Peers outside of flyte-ts and the TCP ports at which network policies let services reach them.
 */
export const NETWORK_PEERS = {
  database: [5432],
  bus: [4222],
  /** Identity providers, webhooks, APIs of other providers. */
  https: [443],
  /**
   * Port of the Kubernetes API's Service (443) and of its machines (6443): a network policy checks
   * the final destination of a connection.
   */
  kubernetes: [443, 6443],
  /** Cloud stores (443), and S3 servers with a port of their own (9000). */
  blobs: [443, 9000],
  /** Cloud stores alone, which have no port of their own. */
  cloudBlobs: [443],
  /** OpenTelemetry receivers. */
  traces: [4318],
  mail: [465, 587],
  /** Flyte connectors (gRPC). */
  connectors: [8000],
  /** HiveServer2 over HTTP, behind TLS or by its own port. */
  hive: [443, 10_001],
  /** Trino: behind TLS, or by its own ports for HTTP and HTTPS. */
  trino: [443, 8080, 8443],
  /** Admin in another cluster: behind TLS, by its Service or by its pods. */
  remoteAdmin: [443, 81, 8089],
  /** The data catalog in another cluster: behind TLS, by its Service or by its pods. */
  remoteCatalog: [443, 89, 8089],
  /** Admin in the same cluster, which its own network policy admits. */
  localAdmin: [],
} as const satisfies Readonly<Record<string, readonly number[]>>;

export type NetworkPeer = keyof typeof NETWORK_PEERS;
