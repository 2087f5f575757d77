/** Ports that policies open for the value of a setting. */
export type AddressPorts = Readonly<Record<string, readonly number[]>>;

const DATABASE: AddressPorts = { "database.url": [5432] };
const BUS: AddressPorts = { "nats.url": [4222] };
const BLOBS: AddressPorts = { "storage.s3.endpoint": [443, 9000], "storage.gcs.endpoint": [443], "storage.azure.endpoint": [443] };
const KUBERNETES: AddressPorts = { "kubernetes.kubeconfig": [443, 6443], "kubernetes.endpoint": [443, 6443] };
const PROVIDERS: AddressPorts = {
  "auth.providers.*.issuer": [443],
  "auth.providers.*.metadataUrl": [443],
  "auth.providers.*.keysUrl": [443],
};

/**
 * All settings of a service that hold an address to which it connects. Besides DNS (port 53) it
 * reaches only those outside flyte-ts; it reaches flyte-ts in the same cluster by the names of
 * Services.
 */
export const ADDRESSES: Readonly<Record<string, AddressPorts>> = {
  admin: {
    ...DATABASE,
    ...BUS,
    ...BLOBS,
    "storage.gcs.signingEndpoint": [443],
    ...PROVIDERS,
    "clusters.*.kubeconfig": [443, 6443],
    "clusters.*.endpoint": [443, 6443],
    "tracing.endpoint": [4318],
    "notifications.emailer.smtp.host": [465, 587],
    "notifications.webhooks.*.url": [443],
    "notifications.webhooks.*.urlFrom.file": [443],
    "notifications.webhooks.*.urlFrom.env": [443],
    "agents.endpoints.*": [8000],
  },
  datacatalog: { ...DATABASE, ...BLOBS, ...PROVIDERS },
  scheduler: { ...DATABASE, "admin.endpoint": [], "admin.auth.tokenEndpoint": [443] },
  propeller: {
    ...BUS,
    ...BLOBS,
    ...KUBERNETES,
    "admin.endpoint": [443, 81, 8089],
    "admin.auth.tokenEndpoint": [443],
    "catalog.endpoint": [443, 89, 8089],
    "catalog.auth.tokenEndpoint": [443],
    "events.grpc.endpoint": [443, 81, 8089],
    "events.grpc.auth.tokenEndpoint": [443],
    "tracing.endpoint": [4318],
  },
  "plugin-pod": { ...BUS, ...BLOBS, ...KUBERNETES },
  "plugin-echo": BUS,
};

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
]);

/** Reports whether the name of a setting says that it is an address. */
export function isAddress(path: string): boolean {
  return /(?:^|\.)(?:[a-zA-Z]*(?:url|Url|urlFrom|uris|host|[eE]ndpoint|endpoints|issuer|address|server)|kubeconfig)(?:\.\*|\.file|\.env)?$/.test(
    path,
  );
}
