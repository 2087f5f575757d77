// Services and Secrets as the chart names them, from the manifests.
import { loadManifests } from "../deploy/manifests.mjs";

const { services } = await loadManifests();
const deployed = services.filter(({ kubernetes }) => kubernetes !== undefined);

/**
 * Id, which is the name of the container and of the file of settings → names in the values and in
 * Kubernetes.
 */
export const SERVICES = Object.fromEntries(
  deployed.map(({ id, names, plane, optional }) => [
    id,
    {
      values: names.helm,
      part: optional ? names.helm : `${plane}Plane`,
      account: names.kubernetes,
      // An optional service has a ConfigMap of its own for the settings of the site.
      ...(optional && { siteConfigMap: `${names.kubernetes}-site` }),
    },
  ]),
);

/** Optional services: the folder of each below `deploy/kubernetes` → its value and its purpose. */
export const OPTIONAL = Object.fromEntries(
  deployed
    .filter(({ optional }) => optional)
    .map(({ id, names, description }) => [`optional/${id}`, { part: names.helm, about: description, file: id }]),
);

/** Ids of the services with a requirement, which are the keys of its Secret. */
const clients = (requirement) => deployed.filter(({ requires }) => requires[requirement] !== undefined).map(({ id }) => id);

/** Secrets by name: those of requirements, and those that manifests name. */
const described = [
  ["flyte-database", secret(clients("database"), "addresses of PostgreSQL databases. Control plane.")],
  ["flyte-bus", secret(clients("bus"), "the address of NATS with the user and password of each service.")],
  [
    "flyte-blobs",
    {
      ...secret(
        ["access-key-id", "secret-access-key", "azure-account-key"],
        "of S3 and of Azure; it may be absent where pods have credentials of their own.",
      ),
      note: "unless pods have credentials of their own",
    },
  ],
  ["flyte-engine", { ...secret(clients("admin"), "the clients' secrets. With `parts.signIn`."), part: "signIn" }],
  ["flyte-gcs", { ...secret(["key.json"], "a service account's key file for Google Cloud Storage. With `parts.gcsKey`."), part: "gcsKey" }],
  [
    "flyte-data-planes",
    {
      keys: ["a kubeconfig for each data plane"],
      about: "A kubeconfig for each name in admin's `clusters`. With `parts.kubeconfigs`.",
      part: "kubeconfigs",
    },
  ],
  ...deployed.flatMap(({ id, secrets }) =>
    [...new Set(secrets.map((each) => each.secret))].map((name) => {
      const own = secrets.filter((each) => each.secret === name);
      const isOptional = own.every(({ optional }) => optional);
      const keys = own.map(({ key }) => key);
      return [name, { ...secret(keys, `for ${id}.`), part: SERVICES[id].part, ...(isOptional && { note: `each if ${id} needs it` }) }];
    }),
  ),
];

/**
 * Name of a Secret in the manifests → its name in the values, its description, its keys, the part
 * without which no pod reads it, and a note about them.
 */
export const SECRETS = Object.fromEntries(described.map(([name, about]) => [name, { values: secretValue(name), ...about }]));

const shared = described.map(([name]) => secretValue(name)).filter((value, index, all) => all.indexOf(value) !== index);
if (shared.length > 0) throw new Error(`chart: several Secrets would share the values ${shared.join(", ")}`);

function secret(keys, meaning) {
  return { keys, about: `${keys.length === 1 ? "Key" : "Keys"} ${list(keys)}: ${meaning}` };
}

function secretValue(name) {
  return name.replace(/^flyte-/, "").replaceAll(/-([a-z0-9])/g, (_, letter) => letter.toUpperCase());
}

/** Formats names as a list in English. */
function list(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
