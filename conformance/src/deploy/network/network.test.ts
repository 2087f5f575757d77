import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { parse } from "yaml";
import { beforeAll, describe, expect, test } from "vitest";
import { ADDRESSES, isAddress, METADATA_PORTS, NOT_OUTBOUND } from "./addresses.js";
import { buildOverlay, hasKubectl, type Manifest, overlays } from "../manifests.js";
import { OPTIONAL_FOLDERS, serviceOf } from "../../services.js";
import { allows, type End, type Policy } from "./network-policy.js";
import { podOf } from "../pod.js";
import { builtProgram } from "../../stack/built-program.js";

const EXTERNAL: End = { ip: "192.0.2.1" };
/** Address from which clouds serve the credentials of service accounts. */
const METADATA: End = { ip: "169.254.169.254" };
/** Ports of the API of each service that others call. */
const API_PORTS: Readonly<Record<string, readonly number[]>> = { admin: [8088, 8089], datacatalog: [8089] };

const COMPOSITIONS = [
  ...overlays().map((overlay) => ({ name: overlay, overlay, resources: [] })),
  { name: "single-cluster with optional services", overlay: "single-cluster", resources: OPTIONAL_FOLDERS },
];

describe.each(Object.keys(ADDRESSES))("addresses in the settings of %s", (service) => {
  let schema: object;
  beforeAll(async () => {
    const program = builtProgram(serviceOf(service).folder);
    schema = JSON.parse((await promisify(execFile)(process.execPath, [program, "--print-schema"])).stdout) as object;
  });

  test("are all in the table of addresses", () => {
    const found = [...textsIn(schema)].filter((path) => isAddress(path) && !NOT_OUTBOUND.has(path));
    expect(found.toSorted()).toEqual(Object.keys(ADDRESSES[service] ?? {}).toSorted());
  });
});

describe.skipIf(!hasKubectl()).each(COMPOSITIONS)("network policies of overlay $name", ({ overlay, resources }) => {
  const objects = hasKubectl() ? buildOverlay(overlay, { resources }).objects : [];
  const policies = objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as readonly Policy[];
  const pods = objects.flatMap((object) => servicePodOf(object) ?? []);
  /** All ports that the objects name. */
  const named = [...JSON.stringify(objects).matchAll(/"(?:port|containerPort)":(\d+)/g)].map(([, port]) => Number(port));
  const candidates = new Set([22, 53, 80, 8080, ...named]);

  test("allow each service exactly the external addresses of its settings", () => {
    for (const { name, service, end } of pods) {
      const open = (to: End, protocol: "TCP" | "UDP") =>
        sorted([...candidates].filter((port) => allows(policies, { from: end, to, port, protocol })));
      const outside = [53, ...Object.values(ADDRESSES[service] ?? {}).flat()];
      expect([name, open(EXTERNAL, "TCP")]).toEqual([name, sorted(new Set(outside))]);
      expect([name, open(EXTERNAL, "UDP")]).toEqual([name, [53]]);
      const metadata = "storage.s3.endpoint" in (ADDRESSES[service] ?? {}) ? METADATA_PORTS : [];
      expect([name, open(METADATA, "TCP")]).toEqual([name, sorted(new Set([...outside, ...metadata]))]);
    }
  });

  test("allow exactly the connections between services that their settings name", () => {
    const addresses = pods.flatMap(({ name, service }) =>
      addressesOf(objects, service).map((address) => ({ name, address, ...target(address) })),
    );
    const isInside = ({ host }: { readonly host: string }) => !host.includes(".");
    const needed = addresses.filter(isInside).map(({ name, host, port }) => `${name} → ${host}:${targetPort(objects, { host, port })}`);
    const cutOff = addresses.filter(
      (each) => !isInside(each) && !allows(policies, { from: endOf(pods, each.name), to: EXTERNAL, port: each.port, protocol: "TCP" }),
    );
    expect(cutOff).toEqual([]);
    const allowed = pods.flatMap((from) =>
      pods.flatMap((to) =>
        [...candidates]
          .filter((port) => from !== to && allows(policies, { from: from.end, to: to.end, port, protocol: "TCP" }))
          .map((port) => `${from.name} → ${to.name}:${port}`),
      ),
    );
    expect(sorted(allowed)).toEqual(sorted(new Set(needed)));
  });

  test("allow others the API and, from labelled namespaces, metrics", () => {
    const otherNamespace: End = {
      namespace: "default",
      namespaceLabels: {},
      labels: { "app.kubernetes.io/name": "flytepropeller" },
      ports: {},
    };
    const watcher: End = { namespace: "monitoring", namespaceLabels: { "flyte-ts/metrics": "allowed" }, labels: {}, ports: {} };
    const open = (from: End) =>
      pods.flatMap(({ name, end }) =>
        [...candidates].filter((port) => allows(policies, { from, to: end, port, protocol: "TCP" })).map((port) => `${name}:${port}`),
      );
    // Propellers of other clusters call the data catalog of this overlay.
    const published = overlay === "control-plane" ? ["admin", "datacatalog"] : ["admin"];
    const api = pods
      .filter(({ service }) => published.includes(service))
      .flatMap(({ name, service }) => (API_PORTS[service] ?? []).map((port) => `${name}:${port}`));
    expect(sorted(open(EXTERNAL))).toEqual(sorted(api));
    expect(sorted(open(otherNamespace))).toEqual(sorted(api));
    expect(sorted(open(watcher))).toEqual(sorted([...api, ...pods.map(({ name }) => `${name}:10254`)]));
  });
});

test
  .skipIf(!hasKubectl())
  .each([
    "http://hive.example.com:10001/cliservice",
    "https://hive.example.com/cliservice",
    "http://trino.example.com:8080",
    "https://trino.example.com:8443",
    "https://trino.example.com",
  ])("network policies let plugin-web-api reach %s", (address) => {
  const { objects } = buildOverlay("data-plane", { resources: ["optional/plugin-web-api"] });
  const policies = objects.filter(({ kind }) => kind === "NetworkPolicy") as unknown as readonly Policy[];
  const from = endOf(
    objects.flatMap((object) => servicePodOf(object) ?? []),
    "flyte-plugin-web-api",
  );
  expect(from).toMatchObject({ namespace: "flyte" });
  expect(allows(policies, { from, to: EXTERNAL, port: target(address).port, protocol: "TCP" })).toBe(true);
});

function sorted<T>(values: Iterable<T>): T[] {
  return [...values].toSorted((a, b) => String(a).localeCompare(String(b), "en", { numeric: true }));
}

interface ServicePod {
  /** Name of the workload. */
  readonly name: string;
  /** Name of the container, which is the name of its settings file. */
  readonly service: string;
  readonly end: End;
}

function servicePodOf(object: Manifest): ServicePod | undefined {
  const pod = podOf(object);
  if (pod === undefined) return undefined;
  const { containers } = pod.spec;
  const ports = Object.fromEntries(
    containers.flatMap((container) => container.ports.map(({ name, containerPort }) => [name, containerPort])),
  );
  const { name, namespace = "", labels } = pod.metadata;
  return { name, service: containers[0]?.name ?? "", end: { namespace, namespaceLabels: {}, labels, ports } };
}

function endOf(pods: readonly ServicePod[], name: string): End {
  return pods.find((pod) => pod.name === name)?.end ?? EXTERNAL;
}

/** Lists the addresses in a service's settings in an overlay, each a URL or `host:port`. */
function addressesOf(objects: readonly Manifest[], service: string): readonly string[] {
  const files = objects.filter(({ kind }) => kind === "ConfigMap").toSorted((a, b) => Number(isSite(a)) - Number(isSite(b)));
  const merged = new Map<string, string>();
  for (const { data } of files) {
    const text = (data as Readonly<Record<string, string>>)[`${service}.yaml`];
    if (text === undefined) continue;
    for (const [path, value] of valuesIn(parse(text))) merged.set(path, value);
  }
  return [...merged].flatMap(([path, value]) => {
    const key = path.replaceAll(/\.\d+(?=\.|$)/g, ".*");
    return isAddress(key) && !NOT_OUTBOUND.has(key) && !key.endsWith("kubeconfig") ? [value] : [];
  });
}

const isSite = ({ metadata }: Manifest) => metadata.name.startsWith("flyte-site-");

function target(address: string): { host: string; port: number } {
  const { protocol, hostname, port } = new URL(address.includes("://") ? address : `tcp://${address}`);
  return { host: hostname, port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port) };
}

/** Resolves the port of a Service's pods. */
function targetPort(objects: readonly Manifest[], { host, port }: { readonly host: string; readonly port: number }): number {
  const service = objects.find(({ kind, metadata }) => kind === "Service" && metadata.name === host);
  const ports = (service?.["spec"] as { ports: { port: number; targetPort: string }[] } | undefined)?.ports;
  const named = ports?.find((each) => each.port === port)?.targetPort ?? "";
  const end = endOf(
    objects.flatMap((object) => servicePodOf(object) ?? []),
    host,
  );
  const found = "ip" in end ? undefined : end.ports[named];
  if (found === undefined) throw new Error(`nothing is at ${host}:${port}`);
  return found;
}

function* valuesIn(value: unknown, path: readonly string[] = []): Generator<readonly [string, string]> {
  if (typeof value === "string") yield [path.join("."), value];
  else if (typeof value === "object" && value !== null) {
    for (const [key, inner] of Object.entries(value)) yield* valuesIn(inner, [...path, key]);
  }
}

interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** Lists the paths of all string settings of a schema. */
function textsIn(schema: Schema, path: readonly string[] = []): Set<string> {
  const { type, properties = {}, items, additionalProperties, anyOf = [], oneOf = [], allOf = [] } = schema;
  const inner = [
    ...Object.entries(properties).map(([key, value]) => textsIn(value, [...path, key])),
    ...(items === undefined ? [] : [textsIn(items, [...path, "*"])]),
    ...(typeof additionalProperties === "object" ? [textsIn(additionalProperties, [...path, "*"])] : []),
    ...[...anyOf, ...oneOf, ...allOf].map((value) => textsIn(value, path)),
  ];
  return new Set([...(type === "string" ? [path.join(".")] : []), ...inner.flatMap((each) => [...each])]);
}
