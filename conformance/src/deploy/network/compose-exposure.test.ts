import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse } from "yaml";

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

const file = join(resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", ".."), "docker-compose.yml");
const { services } = parse(readFileSync(file, "utf8"), { merge: true }) as { services: Readonly<Record<string, ComposeService>> };
const entries = Object.entries(services);
const withVolume = (pattern: RegExp) =>
  entries.filter(([, { volumes = [] }]) => volumes.some((volume) => pattern.test(volume))).map(([name]) => name);

test("ports are published on the loopback address, and only those of listeners that ask for keys or sign-in", () => {
  const published = entries.flatMap(([name, { ports = [] }]) => ports.map((port) => ({ name, port })));
  expect(published.map(({ name }) => name).sort()).toEqual(["api", "blobs", "cluster"]);
  for (const { name, port } of published) expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:/)]);
  expect(entries.filter(([, { network_mode: mode }]) => mode === "host")).toEqual([]);
});

test("tasks reach neither the database nor the message bus nor the data catalog", () => {
  const besideTasks = entries.filter(([, { networks = [] }]) => networks.includes("tasks")).map(([name]) => name);
  for (const name of ["postgres", "nats", "datacatalog", "scheduler", "plugin-echo"]) expect(besideTasks).not.toContain(name);
});

test.each(["admin", "datacatalog", "scheduler", "propeller", "plugin-pod", "plugin-echo"])("the secrets of %s are its own", (service) => {
  expect(withVolume(new RegExp(`^secrets-${service}:`))).toEqual(["configure", service]);
  const secrets = (services[service]?.volumes ?? []).filter((volume) => volume.startsWith("secrets"));
  expect(secrets).toEqual([`secrets-${service}:/secrets/services:ro`]);
});

test("the cluster's credentials and the clients' secrets are mounted where they are needed", () => {
  expect(withVolume(/^kubeconfig:/)).toEqual(["configure", "cluster", "admin", "propeller", "plugin-pod"]);
  expect(withVolume(/^sign-in:/)).toEqual(["configure", "admin", "scheduler", "propeller"]);
  expect(withVolume(/^sign-in:.*(?<!:ro)$/)).toEqual(["configure", "admin"]);
  expect(withVolume(/docker\.sock|^\/|^~/)).toEqual([]);
});

test("no password stands in the file, and sign-in is asked for by one variable", () => {
  const words = entries.flatMap(([name, { environment = {}, command = [] }]) => [
    ...Object.entries(environment).map(([variable, value]) => `${name} ${variable}=${String(value)}`),
    ...command.map((word) => `${name} ${word}`),
  ]);
  const secrets = words.filter((word) => /passw|secret_?key|:\/\/\w+:\w+@/i.test(word) && !/^\w+ \w+_FILE=/.test(word));
  expect(secrets).toEqual([]);
  expect(services["configure"]?.environment?.["FLYTE_TS_AUTH"]).toBe("${FLYTE_TS_AUTH:-open}");
});
