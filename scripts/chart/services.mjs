// Services: container name in the manifests → name in the values, and file of the site's settings.

export const SERVICES = {
  admin: { values: "admin", part: "controlPlane", account: "flyteadmin" },
  datacatalog: { values: "datacatalog", part: "controlPlane", account: "datacatalog" },
  scheduler: { values: "scheduler", part: "controlPlane", account: "flytescheduler" },
  propeller: { values: "propeller", part: "dataPlane", account: "flytepropeller" },
  "plugin-pod": { values: "pluginPod", part: "dataPlane", account: "flyte-plugin-pod" },
  "plugin-echo": { values: "pluginEcho", part: "dataPlane", account: "flyte-plugin-echo" },
};

/** Name of a Secret in the manifests → its name in the values. */
export const SECRETS = {
  "flyte-database": {
    values: "database",
    about: "Keys admin, datacatalog and scheduler: addresses of PostgreSQL databases. Control plane.",
  },
  "flyte-bus": {
    values: "bus",
    about: "Keys admin, propeller, plugin-pod and plugin-echo: the address of NATS with the user and password of each service.",
  },
  "flyte-blobs": {
    values: "blobs",
    about: "Keys access-key-id and secret-access-key; it may be absent where pods have credentials of their own.",
  },
  "flyte-engine": { values: "engine", about: "Keys propeller and scheduler: the clients' secrets. With `parts.signIn`." },
  "flyte-gcs": { values: "gcs", about: "Key key.json: a service account's key file for Google Cloud Storage. With `parts.gcsKey`." },
  "flyte-data-planes": { values: "dataPlanes", about: "A kubeconfig for each name in admin's `clusters`. With `parts.kubeconfigs`." },
};
