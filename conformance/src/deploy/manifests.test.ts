import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { findPrometheusOperatorDefinitions } from "@flyte-ts/test-servers";
import { type KubernetesFixture, kubernetesFixture, kubernetesSkipReason } from "@flyte-ts/testing";
import { FLYTE_WORKFLOW_CRD } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chart, chartFolder, overlayArguments } from "./chart.js";
import { buildOverlay, type Built, hasKubectl, kubernetesFolder, type Manifest, parseManifests } from "./manifests.js";
import { podOf } from "./pod.js";

const unavailable = !hasKubectl() || (await kubernetesSkipReason()) !== undefined;
const helm = unavailable ? undefined : await chart();
/**
 * Without these definitions the test skips the objects of the Prometheus operator and prints that.
 */
const definitions = unavailable ? undefined : await findPrometheusOperatorDefinitions().catch(printReason);
const more = definitions === undefined ? [] : ["monitoring"];

/**
 * Objects that the test applies: kustomize's overlays, one overlay with all components, and the
 * chart with the same features.
 */
const SOURCES: Readonly<Record<string, () => Built | undefined>> = {
  // The overlay with sign-in follows below, with more components.
  ...Object.fromEntries(["control-plane", "data-plane", "single-cluster"].map((name) => [`overlay ${name}`, () => buildOverlay(name)])),
  "overlay single-cluster-sign-in with all components": () =>
    buildOverlay("single-cluster-sign-in", {
      components: ["cluster-resources/templates", "cluster-resources/access", "kubeconfigs", "gcs-key"],
      resources: ["nats", ...more],
    }),
  "the chart with the same values": () => {
    const parts = ["clusterResources", "kubeconfigs", "gcsKey", ...more].map((part) => `parts.${part}=true`).join();
    return helm?.template([...overlayArguments("single-cluster-sign-in"), "--set", parts]);
  },
};

test("the CRD of the manifests equals that of the code", () => {
  const [definition] = parseManifests(readFileSync(join(kubernetesFolder, "data-plane", "resource-definition.yaml"), "utf8"));
  expect(definition).toEqual(FLYTE_WORKFLOW_CRD);
});

describe.skipIf(unavailable)("manifests on a real Kubernetes API", () => {
  let kubernetes: KubernetesFixture;

  const kubectl = (args: readonly string[], input?: string) =>
    execFileSync("kubectl", ["--kubeconfig", kubernetes.kubeconfig, ...args], {
      encoding: "utf8",
      input,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
  const dryRun = (text: string) => kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", "-"], text);

  beforeAll(async () => {
    kubernetes = await kubernetesFixture();
    // A dry run needs the objects to which the applied objects refer: the namespace with its
    // policy, and the definitions of other kinds.
    kubectl(["apply", "-f", join(kubernetesFolder, "namespace", "namespace.yaml")]);
    if (definitions === undefined) return;
    for (const plural of ["servicemonitors", "prometheusrules"])
      kubectl(["create", "-f", join(definitions, `monitoring.coreos.com_${plural}.yaml`)]);
    kubectl(["wait", "--for=condition=Established", "--timeout=30s", "customresourcedefinitions", "--all"]);
  });
  afterAll(() => kubernetes?.stop());

  test.each(Object.keys(SOURCES))("%s passes a dry run with strict schemas, and its pods satisfy the restricted policy", (name) => {
    const source = SOURCES[name]?.();
    if (source === undefined) return;
    const answer = dryRun(source.text);
    expect(answer.trim().split("\n")).toHaveLength(source.objects.length);
    expect(answer).not.toMatch(/warning/i);
    const pods = source.objects.flatMap((object) => podOf(object) ?? []);
    expect(pods.length).toBeGreaterThan(0);
    kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], pods.map((pod) => JSON.stringify(pod)).join("\n"));
  });

  test.skipIf(helm === undefined)("Helm installs, upgrades and uninstalls the release, and keeps the CRD", () => {
    const of = ["--namespace", "flyte", "--kubeconfig", kubernetes.kubeconfig];
    const values = ["-f", join(chartFolder, "overlays", "single-cluster.yaml")];
    const names = (kinds: string) =>
      kubectl(["get", kinds, "--namespace", "flyte", "-l", "app.kubernetes.io/part-of=flyte-ts", "-o", "name"]).split("\n").filter(Boolean);
    expect(helm?.run(["install", "flyte", chartFolder, ...of, ...values])).toContain("flyte-database");
    expect(names("deployments,statefulsets")).toHaveLength(6);
    helm?.run(["upgrade", "flyte", chartFolder, ...of, ...values, "--set", "propeller.replicas=3"]);
    expect(kubectl(["get", "statefulset", "flytepropeller", "--namespace", "flyte", "-o", "jsonpath={.spec.replicas}"])).toBe("3");
    helm?.run(["uninstall", "flyte", ...of]);
    expect(names("deployments,statefulsets,services,configmaps,networkpolicies,serviceaccounts,roles")).toEqual([]);
    kubectl(["get", "customresourcedefinition", FLYTE_WORKFLOW_CRD.metadata.name]);
  });

  test.each(["containers", "initContainers"])("a pod with more privileges in its %s is refused", (field) => {
    const pod = podOf(buildOverlay("control-plane").objects.find(({ kind }) => kind === "Deployment") as Manifest);
    const privileged = { name: "more", image: "more", securityContext: { allowPrivilegeEscalation: true } };
    const violating = { ...pod, spec: { ...pod?.spec, [field]: [privileged] } };
    expect(() => kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(violating))).toThrow(/violates PodSecurity "restricted/);
  });

  test.each([
    ["v1", "Service", { ports: [{ port: 1 }], selektor: {} }],
    ["monitoring.coreos.com/v1", "ServiceMonitor", { selector: {}, endpoints: [{ prot: "ops" }] }],
    ["monitoring.coreos.com/v1", "PrometheusRule", { groups: [{ name: "a", rules: [{ alert: "a", expr: "b", four: "1m" }] }] }],
  ])("an unknown field of %s %s is refused", (apiVersion, kind, spec) => {
    if (definitions === undefined && kind !== "Service") return;
    const object = { apiVersion, kind, metadata: { name: "a", namespace: "flyte" }, spec };
    expect(() => dryRun(JSON.stringify(object))).toThrow(/unknown field/);
  });
});

function printReason(error: unknown): undefined {
  process.stderr.write(`skipped, no definitions of the Prometheus operator: ${(error as Error).message}\n`);
}
