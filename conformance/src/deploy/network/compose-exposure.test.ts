import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { root } from "../../repository.js";
import { DEPLOYED } from "../../services.js";

// Access that docker-compose.yml gives to other users of the machine and to its services among
// themselves.

interface ComposeService {
  readonly ports?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly volumes?: readonly string[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly command?: readonly string[];
}

const file = join(root, "docker-compose.yml");
const { services } = parse(readFileSync(file, "utf8"), { merge: true }) as { services: Readonly<Record<string, ComposeService>> };
const entries = Object.entries(services);
const idsOf = (uses: boolean) =>
  DEPLOYED.filter(({ manifest }) => (manifest.requires.kubernetes !== undefined) === uses).map(({ manifest }) => manifest.id);
/** Services that reach the cluster, which is in the network of tasks. */
const besideCluster = idsOf(true);
const apartFromCluster = idsOf(false);
const withVolume = (pattern: RegExp) =>
  entries.filter(([, { volumes = [] }]) => volumes.some((volume) => pattern.test(volume))).map(([name]) => name);

test("only ports of listeners with authentication are published, on loopback", () => {
  const published = entries.flatMap(([name, { ports = [] }]) => ports.map((port) => ({ name, port })));
  expect(published.map(({ name }) => name).sort()).toEqual(["api", "blobs", "cluster"]);
  for (const { name, port } of published) expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(entries.filter(([, { network_mode: mode }]) => mode === "host")).toEqual([]);
});

test("tasks cannot reach the database, the bus or the data catalog", () => {
  const besideTasks = entries.filter(([, { networks = [] }]) => networks.includes("tasks")).map(([name]) => name);
  for (const name of ["postgres", "nats", ...apartFromCluster]) expect(besideTasks).not.toContain(name);
});

test.each(DEPLOYED.map(({ manifest }) => manifest.id))("%s mounts only its own secrets", (service) => {
  expect(withVolume(new RegExp(`^secrets-${service}:`))).toEqual(["configure", service]);
  const secrets = (services[service]?.volumes ?? []).filter((volume) => volume.startsWith("secrets"));
  expect(secrets).toEqual([`secrets-${service}:/secrets/services:ro`]);
});

test("credentials of the cluster and of clients are mounted only where they are needed", () => {
  expect(withVolume(/^kubeconfig:/)).toEqual(["configure", "cluster", ...besideCluster]);
  expect(withVolume(/^sign-in:/)).toEqual(["configure", "admin", "scheduler", "propeller"]);
  expect(withVolume(/^sign-in:.*(?<!:ro)$/)).toEqual(["configure", "admin"]);
  expect(withVolume(/docker\.sock|^\/|^~/)).toEqual([]);
});

test("the file contains no password, and one variable enables authentication", () => {
  const words = entries.flatMap(([name, { environment = {}, command = [] }]) => [
    ...Object.entries(environment).map(([variable, value]) => `${name} ${variable}=${String(value)}`),
    ...command.map((word) => `${name} ${word}`),
  ]);
  const secrets = words.filter((word) => /passw|secret_?key|:\/\/\w+:\w+@/i.test(word) && !/^\w+ \w+_FILE=/.test(word));
  expect(secrets).toEqual([]);
  expect(services["configure"]?.environment?.["FLYTE_TS_AUTH"]).toBe("${FLYTE_TS_AUTH:-open}");
});
