// Prints the Secrets of the NATS cluster in deploy/kubernetes/nats, with new passwords:
//   node deploy/bus/cluster-secrets.mjs [USERS.json] | kubectl -n flyte create -f -
// `flyte-nats` configures the servers, `flyte-bus` has the address for each service. USERS.json is
// the output of add-plugin.mjs; default users.json. `create` fails for Secrets that exist: other
// passwords would lock running services out.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { authorizationBlock } from "./nats-config.mjs";

/** Servers of the StatefulSet, by the names that its headless Service gives them. */
const SERVERS = [0, 1, 2].map((index) => `flyte-nats-${index}.flyte-nats`);

const users = JSON.parse(readFileSync(process.argv[2] ?? new URL("users.json", import.meta.url), "utf8"));
const password = () => randomBytes(24).toString("hex");
const passwords = Object.fromEntries(Object.keys(users).map((user) => [user, password()]));
const route = { user: "route", password: password() };
const cluster = {
  name: "flyte",
  listen: "0.0.0.0:6222",
  authorization: route,
  routes: SERVERS.map((server) => `nats-route://${route.user}:${route.password}@${server}:6222`),
};
/** The first server has the user of all: so parses the client of the services. */
const url = (user) => `nats://${user}:${passwords[user]}@${SERVERS.map((server) => `${server}:4222`).join()}`;
const secret = (name, stringData) => ({ apiVersion: "v1", kind: "Secret", metadata: { name }, stringData });
const items = [
  secret("flyte-nats", { "secrets.conf": `${authorizationBlock(users, passwords)}\ncluster: ${JSON.stringify(cluster)}\n` }),
  secret("flyte-bus", Object.fromEntries(Object.keys(users).map((user) => [user, url(user)]))),
];
process.stdout.write(`${JSON.stringify({ apiVersion: "v1", kind: "List", items }, null, 2)}\n`);
