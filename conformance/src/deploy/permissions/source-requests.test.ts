import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as kubernetes from "@flyte-ts/kubernetes";
import { serviceNames } from "@flyte-ts/service-manifest";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import { describe, expect, test } from "vitest";
import { buildOverlay, hasKubectl } from "../manifests.js";
import { grantedPermissions } from "./granted-permissions.js";
import { DEPLOYED, OPTIONAL_FOLDERS } from "../../services.js";

// Complements used-permissions.test.ts, which runs with exactly these permissions and observes the
// requests of one minute. This test finds requests of rarely taken paths in the source.

/** Resource types by the constants that the source uses. */
const KINDS: ReadonlyMap<string, kubernetes.ResourceRef> = new Map(
  Object.entries({ ...kubernetes, FLYTE_WORKFLOW_RESOURCE }).filter((entry): entry is [string, kubernetes.ResourceRef] =>
    isResourceRef(entry[1]),
  ),
);

/** Methods of the Kubernetes client → verbs. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  get: ["get"],
  list: ["list"],
  create: ["create"],
  replace: ["update"],
  mergePatch: ["patch"],
  delete: ["delete"],
  watch: ["watch"],
  apply: ["patch", "create"],
};

/**
 * Requests that are in a service's source but that the service does not make with the settings of
 * the manifests, with the reason.
 */
const OPTIONAL_REQUESTS: Readonly<Record<string, string>> = {
  "propeller customresourcedefinitions": "kubernetes.createCrd is false: the manifests bring it",
};

describe.skipIf(!hasKubectl()).each(DEPLOYED)("the source of $manifest.id", ({ manifest, folder }) => {
  const account = serviceNames(manifest).kubernetes;
  const source = readSource(join(folder, "src"));
  const allowed = hasKubectl()
    ? grantedPermissions(
        buildOverlay("single-cluster", { components: ["cluster-resources/access"], resources: OPTIONAL_FOLDERS }).objects,
      ).filter((right) => right.account === account)
    : [];

  test("makes no request that its account may not make", () => {
    const lines = new Set(allowed.map(({ verb, resource }) => `${verb} ${resource}`));
    expect(callsIn(source).filter((call) => !lines.has(call))).toEqual([]);
  });

  test("names no kind without permissions of its account", () => {
    const resources = new Set(allowed.map(({ resource }) => resource));
    const named = [...KINDS].filter(([name]) =>
      new RegExp(`^import [^;]*\\b${name}\\b[^;]*from "@flyte-ts/(?:kubernetes|workflow-crd)"`, "m").test(source),
    );
    const without = named
      .map(([, ref]) => ref)
      .filter((ref) => !resources.has(lineOf(ref)) && OPTIONAL_REQUESTS[`${manifest.id} ${ref.plural}`] === undefined);
    expect(without).toEqual([]);
  });
});

test("the test finds calls in every notation", () => {
  const text =
    "kube.get<Pod>(PODS, x); client.mergePatch(\n  EVENTS, {}); createInformer<Pod>({ client, ref: PODS }); kube.podLog({}); map.get(OTHER)";
  expect(callsIn(text).toSorted()).toEqual(["get pods", "get pods/log", "list pods", "patch events", "watch pods"]);
});

/** Lists `verb resource` for each request of the client. */
function callsIn(source: string): readonly string[] {
  const found = [...source.matchAll(/\.([a-zA-Z]+)(?:<[^()]*>)?\(\s*([A-Z][A-Z_]+)\b/g)].flatMap(([, method = "", name = ""]) => {
    const ref = KINDS.get(name);
    return ref === undefined ? [] : (VERBS[method] ?? []).map((verb) => `${verb} ${lineOf(ref)}`);
  });
  const heard = [...source.matchAll(/\bref: ([A-Z][A-Z_]+)\b/g)].flatMap(([, name = ""]) => {
    const ref = KINDS.get(name);
    return ref === undefined ? [] : [`list ${lineOf(ref)}`, `watch ${lineOf(ref)}`];
  });
  const logs = /\.podLog\(/.test(source) ? ["get pods/log"] : [];
  return [...new Set([...found, ...heard, ...logs])];
}

const lineOf = ({ group, plural }: kubernetes.ResourceRef) => (group === "" ? plural : `${group}/${plural}`);

function isResourceRef(value: unknown): value is kubernetes.ResourceRef {
  return typeof value === "object" && value !== null && "plural" in value && "group" in value;
}

/** Reads the source of the product: no tests, and no replacement of a cluster. */
function readSource(folder: string): string {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts") && !/\.(?:test|fixture)\.ts$|^simulation\//.test(file))
    .map((file) => readFileSync(join(folder, file), "utf8"))
    .join("\n");
}
