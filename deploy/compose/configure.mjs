// First container of docker-compose.yml: creates passwords and keys, keeps them in a volume, and
// writes for each service the file with those that it needs. Every `up` runs it; it changes nothing
// that exists.
import { randomBytes } from "node:crypto";
import { chownSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { authorizationBlock } from "../bus/nats-config.mjs";
import { addPluginUser } from "../bus/plugin-users.mjs";

/** User of the services' containers. */
const SERVICES = 65_532;
const folder = process.argv[2] ?? "/secrets";
/** Volumes that services write to and whose images do not create them. */
const owned = process.argv[3] ?? "/owned";
const asRoot = process.getuid?.() === 0;

const keptFile = join(folder, "kept", "secrets.json");
const kept = existsSync(keptFile) ? JSON.parse(readFileSync(keptFile, "utf8")) : {};
const secret = (name, bytes = 24) => (kept[name] ??= randomBytes(bytes).toString("hex"));

const database = secret("databasePassword");
/** Generated from the manifests: the secrets that each service needs. */
const services = JSON.parse(readFileSync(new URL("services.json", import.meta.url), "utf8"));
/** Plugin services that are no part of this repository: id → task types. */
const plugins = Object.entries(JSON.parse(process.env.FLYTE_TS_PLUGINS || "{}"));
const busUsers = plugins.reduce(
  (users, [id, taskTypes]) => addPluginUser(users, id, taskTypes),
  JSON.parse(readFileSync(new URL("../bus/users.json", import.meta.url), "utf8")),
);
const busPasswords = Object.fromEntries(Object.keys(busUsers).map((user) => [user, secret(`busPassword.${user}`)]));
const accessKeyId = `flyte${secret("blobKeyId", 6)}`;
const secretAccessKey = secret("blobSecretKey");
// Token in links to logs, which gives access to the logs of pods only.
const logToken = secret("clusterLogToken");
const { FLYTE_TS_PORT: apiPort = "30080", FLYTE_TS_CLUSTER_PORT: clusterPort = "30086", FLYTE_TS_AUTH: mode = "open" } = process.env;
if (mode !== "open" && mode !== "required") {
  process.stderr.write(`FLYTE_TS_AUTH must be open or required, is ${JSON.stringify(mode)}\n`);
  process.exit(1);
}
const signIn = mode === "required";
/** Issuer of tokens, as clients see it. */
const publicUrl = process.env.FLYTE_TS_PUBLIC_URL || `http://localhost:${apiPort}`;
write(keptFile, JSON.stringify(kept, null, 2), { mode: 0o600 });

const databaseUrl = (name) => `postgresql://flyte:${database}@postgres:5432/${name}`;
const bus = (user) => ({ nats: { url: `nats://${user}:${busPasswords[user]}@nats:4222` } });
/** Folder in which admin writes the secrets of the services that call it. */
const SIGN_IN = "/sign-in";
const adminAuth = {
  auth: {
    mode: "required",
    publicUrl,
    builtIn: { secretsFolder: SIGN_IN },
    roles: [
      { subject: "admin", role: "admin" },
      { subject: "flytekit", role: "contributor" },
    ],
  },
};
const credentials = (clientId) => ({
  auth: { clientId, clientSecretFile: `${SIGN_IN}/${clientId}`, tokenEndpoint: "http://api:30080/oauth2/token" },
});
// Every user of this machine reaches the addresses of containers, also of those that publish no
// port.
const catalogAuth = {
  auth: { mode: "required", providers: [{ issuer: publicUrl, keysUrl: "http://api:30080/oauth2/jwks", audience: [publicUrl] }] },
};
const s3 = { storage: { s3: { accessKeyId, secretAccessKey } } };

const podLogUri = `http://localhost:${clusterPort}/${logToken}/api/v1/namespaces/{{ .namespace }}/pods/{{ .podName }}/log`;

const files = {
  "bus/nats.conf": [
    "port: 4222",
    'http: "127.0.0.1:8222"',
    "jetstream { store_dir: /data }",
    authorizationBlock(busUsers, busPasswords),
    "",
  ].join("\n"),
  // The console uses the API's address.
  "blobs/keys.yaml": {
    accessKeyId,
    secretAccessKey,
    allowedOrigins: ["localhost", "127.0.0.1"].map((host) => `http://${host}:${apiPort}`),
  },
  "cluster/keys.yaml": { logToken, podEnv: { FLYTE_AWS_ACCESS_KEY_ID: accessKeyId, FLYTE_AWS_SECRET_ACCESS_KEY: secretAccessKey } },
  ...Object.fromEntries(plugins.map(([id]) => [`${id}/${id}.yaml`, pluginSettings(id)])),
  ...Object.fromEntries(services.map((service) => [`${service.id}/${service.id}.yaml`, settingsWithSecrets(service)])),
};
// JSON is YAML.
for (const [name, content] of Object.entries(files)) {
  write(join(folder, name), typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`, {
    mode: 0o400,
    owner: SERVICES,
  });
}
// PostgreSQL runs as its own user; no other container mounts this volume.
write(join(folder, "database", "password"), database, { mode: 0o444 });
if (asRoot) for (const volume of readdirSync(owned)) chownSync(join(owned, volume), SERVICES, SERVICES);
process.stdout.write("secrets are in place\n");

/** Settings of a plugin service whose own file of settings is elsewhere. */
function pluginSettings(id) {
  return { ...bus(id), storage: { s3: { endpoint: "http://blobs:30002", ...s3.storage.s3 } } };
}

/** Settings of a service that contain secrets. */
function settingsWithSecrets({ id, database, bus: usesBus, blobStore, admin, catalog, auth, settings }) {
  return {
    ...(database && { database: { url: databaseUrl(database) } }),
    ...(usesBus && bus(id)),
    ...(blobStore && s3),
    ...(signIn && { ...(admin && { admin: credentials(admin) }), ...(catalog && { catalog: credentials(catalog) }) }),
    ...(signIn && auth && { issuer: adminAuth, verifier: catalogAuth }[auth]),
    ...(settings && JSON.parse(JSON.stringify(settings).replaceAll("${podLogUri}", podLogUri))),
  };
}

function write(path, text, { mode, owner }) {
  const staged = join(dirname(path), ".staged");
  // A file left by an interrupted `up` belongs to a service, and this container may not write to
  // it.
  rmSync(staged, { recursive: true, force: true });
  writeFileSync(staged, text, { mode });
  if (owner !== undefined && asRoot) chownSync(staged, owner, owner);
  renameSync(staged, path);
}
