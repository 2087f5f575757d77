// Files of docker compose that follow from the manifests.
import { withRegions } from "./regions.mjs";
import { HEADER, printYaml } from "./yaml.mjs";

const FOLDER = "deploy/compose";
const KUBECONFIG = "/kubeconfig/config";
const BLOB_STORE = "http://blobs:30002";
const ADMIN = "api:30080";
const CATALOG = "datacatalog:8081";

/** @returns {Map<string, string>} path → text */
export function composeFiles({ services, model }) {
  const deployed = services.filter(({ kubernetes }) => kubernetes !== undefined);
  const files = new Map();
  for (const service of deployed) files.set(`${FOLDER}/config/${service.id}.yaml`, HEADER + printYaml(composeSettings(service, model)));
  files.set(`${FOLDER}/services.json`, `${JSON.stringify(deployed.map(secretsOf), null, 2)}\n`);
  const regions = {
    secrets: deployed.map(({ id }) => `- secrets-${id}:/secrets/${id}`),
    services: deployed.flatMap((service) => [...containerLines(service), ""]).slice(0, -1),
    volumes: deployed.map(({ id }) => `secrets-${id}: {}`),
  };
  files.set("docker-compose.yml", withRegions("docker-compose.yml", regions));
  return files;
}

/** Settings without secrets; `configure.mjs` writes those with secrets. */
export function composeSettings({ requires, settings }, { mergeSettings }) {
  const derived = {
    ...(requires.kubernetes === "own" && { kubernetes: { kubeconfig: KUBECONFIG } }),
    ...(requires.blobStore !== undefined && { storage: { s3: { endpoint: BLOB_STORE } } }),
    ...(requires.admin !== undefined && { admin: { endpoint: ADMIN } }),
    ...(requires.catalog !== undefined && { catalog: { endpoint: CATALOG } }),
  };
  return mergeSettings(derived, settings.compose);
}

/** Facts by which `configure.mjs` decides which secrets a service gets. */
function secretsOf({ id, requires, auth, settings }) {
  const { database, bus, blobStore, admin, catalog } = requires;
  return {
    id,
    ...(database !== undefined && { database: database.name }),
    ...(bus !== undefined && { bus: true }),
    ...(blobStore !== undefined && { blobStore: true }),
    ...(admin !== undefined && { admin: admin.clientId }),
    ...(catalog !== undefined && { catalog: catalog.clientId }),
    ...(auth !== undefined && { auth }),
    ...(settings.composeSecret !== undefined && { settings: settings.composeSecret({ podLogUri: "${podLogUri}" }) }),
  };
}

function containerLines(service) {
  const { id, path, names, image, optional, requires, auth } = service;
  const environment = requires.blobStore?.presigns
    ? [
        "environment:",
        `  ${names.envPrefix}STORAGE__S3__PUBLIC_ENDPOINT: http://localhost:\${FLYTE_TS_BLOB_PORT:-30002}`,
        // The console uploads to the same addresses.
        ...(id === "admin" ? [`  ${names.envPrefix}CONSOLE__BLOB_ORIGINS: "[http://localhost:\${FLYTE_TS_BLOB_PORT:-30002}]"`] : []),
      ]
    : [];
  const lines = [
    "<<: *service",
    `image: flyte-ts/${names.image}:\${FLYTE_TS_VERSION:-dev}`,
    // An optional service starts with `docker compose --profile ID up`.
    ...(optional ? [`profiles: [${id}]`] : []),
    "build:",
    "  <<: *build",
    ...(image.target === "service" ? [] : [`  target: ${image.target}`]),
    `  args: { <<: *args, SERVICE: ${path} }`,
    "pull_policy: ${FLYTE_TS_PULL_POLICY:-never}",
    `command: ["--config", "/etc/flyte/${id}.yaml", "--config", "/secrets/services/${id}.yaml"]`,
    ...environment,
    "volumes:",
    "  - ./deploy/compose/config:/etc/flyte:ro",
    `  - secrets-${id}:/secrets/services:ro`,
    ...(requires.kubernetes === undefined ? [] : ["  - kubeconfig:/kubeconfig:ro"]),
    ...(auth === "issuer" ? ["  - sign-in:/sign-in"] : []),
    ...(requires.admin === undefined ? [] : ["  - sign-in:/sign-in:ro"]),
    // The cluster is reached from the network of tasks alone.
    `networks: [${requires.kubernetes === undefined ? "control" : "control, tasks"}]`,
    "depends_on:",
    ...dependencies(requires).map((name) => `  ${name}: { condition: service_healthy }`),
  ];
  return [`${id}:`, ...lines.map((line) => `  ${line}`)];
}

function dependencies({ database, bus, blobStore, kubernetes, admin, catalog }) {
  const all = { postgres: database, nats: bus, blobs: blobStore, cluster: kubernetes, api: admin, datacatalog: catalog };
  return Object.entries(all).flatMap(([name, requirement]) => (requirement === undefined ? [] : [name]));
}
