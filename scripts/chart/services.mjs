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

const clients = (requirement) => list(deployed.filter(({ requires }) => requires[requirement] !== undefined).map(({ id }) => id));

/** Name of a Secret in the manifests → its name in the values. */
export const SECRETS = {
  "flyte-database": {
    values: "database",
    about: `Keys ${clients("database")}: addresses of PostgreSQL databases. Control plane.`,
  },
  "flyte-bus": {
    values: "bus",
    about: `Keys ${clients("bus")}: the address of NATS with the user and password of each service.`,
  },
  "flyte-blobs": {
    values: "blobs",
    about: "Keys access-key-id and secret-access-key; it may be absent where pods have credentials of their own.",
  },
  "flyte-engine": { values: "engine", about: `Keys ${clients("admin")}: the clients' secrets. With \`parts.signIn\`.` },
  "flyte-gcs": { values: "gcs", about: "Key key.json: a service account's key file for Google Cloud Storage. With `parts.gcsKey`." },
  "flyte-data-planes": { values: "dataPlanes", about: "A kubeconfig for each name in admin's `clusters`. With `parts.kubeconfigs`." },
  ...Object.fromEntries(
    deployed.flatMap(({ id, names, secrets }) =>
      [...new Set(secrets.map(({ secret }) => secret))].map((secret) => [
        secret,
        { values: names.helm, about: `Keys ${list(secrets.filter((each) => each.secret === secret).map(({ key }) => key))}: for ${id}.` },
      ]),
    ),
  ),
};

/** Formats names as a list in English. */
function list(names) {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}
