import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type KubernetesFixture, kubernetesFixture, kubernetesUnavailable } from "@flyte-ts/testing";
import { FLYTE_WORKFLOW_CRD } from "@flyte-ts/workflow-crd";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildOverlay, kubectlIsThere, kubernetesFolder, type Manifest, overlays, parseManifests } from "./manifests.js";

const unavailable = !kubectlIsThere() || (await kubernetesUnavailable()) !== undefined;

test("the resource definition is that of the code", () => {
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

  beforeAll(async () => {
    kubernetes = await kubernetesFixture();
    // What a dry run refers to must be there: the namespace, with its policy, and kinds of others.
    kubectl(["apply", "-f", join(kubernetesFolder, "namespace", "namespace.yaml")]);
    kubectl(["apply", "-f", "-"], foreignKinds());
    kubectl(["wait", "--for=condition=Established", "--timeout=30s", "customresourcedefinitions", "--all"]);
  });
  afterAll(() => kubernetes?.stop());

  test.each(overlays())("overlay %s passes a dry run with strict schemas", (overlay) => {
    const { text, objects } = buildOverlay(overlay);
    const answer = kubectl(["apply", "--dry-run=server", "--validate=strict", "-f", "-"], text);
    expect(answer.trim().split("\n")).toHaveLength(objects.length);
    expect(answer).not.toMatch(/warning/i);
  });

  test("monitoring passes a dry run with strict schemas", () => {
    const text = execFileSync("kubectl", ["kustomize", join(kubernetesFolder, "monitoring")], { encoding: "utf8" });
    const answer = kubectl(["apply", "-n", "flyte", "--dry-run=server", "--validate=strict", "-f", "-"], text);
    expect(answer.trim().split("\n")).toHaveLength(parseManifests(text).length);
  });

  test.each(overlays())("pods of overlay %s are let in where the policy is restricted", (overlay) => {
    const pods = buildOverlay(overlay).objects.flatMap((object) => podOf(object) ?? []);
    expect(pods.length).toBeGreaterThan(0);
    kubectl(["create", "--dry-run=server", "--validate=strict", "-f", "-"], pods.map((pod) => JSON.stringify(pod)).join("\n"));
  });

  test("a pod that asks for more is refused there", () => {
    const pod = podOf(buildOverlay("single-cluster").objects.find(({ kind }) => kind === "Deployment") as Manifest) as PodManifest;
    const [container] = pod.spec.containers;
    const more = { ...pod, spec: { ...pod.spec, containers: [{ ...container, securityContext: { allowPrivilegeEscalation: true } }] } };
    expect(() => kubectl(["create", "--dry-run=server", "-f", "-"], JSON.stringify(more))).toThrow(/violates PodSecurity "restricted/);
  });
});

interface PodManifest {
  readonly spec: { readonly containers: readonly object[] };
}

/** The pod that a workload would make. */
function podOf({ kind, metadata, spec }: Manifest): PodManifest | undefined {
  if (kind !== "Deployment" && kind !== "StatefulSet") return undefined;
  const { template } = spec as { template: { metadata: object; spec: PodManifest["spec"] } };
  const { namespace } = metadata;
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { ...template.metadata, name: metadata.name, namespace },
    spec: template.spec,
  } as PodManifest;
}

/** Definitions of the kinds of the Prometheus operator that are used, as far as a dry run needs them: their own schemas are not here. */
function foreignKinds(): string {
  const definition = (kind: string, plural: string) => ({
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.monitoring.coreos.com` },
    spec: {
      group: "monitoring.coreos.com",
      scope: "Namespaced",
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [
        {
          name: "v1",
          served: true,
          storage: true,
          schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
        },
      ],
    },
  });
  return [definition("ServiceMonitor", "servicemonitors"), definition("PrometheusRule", "prometheusrules")]
    .map((object) => JSON.stringify(object))
    .join("\n");
}
