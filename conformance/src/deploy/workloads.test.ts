import { serviceNames } from "@flyte-ts/service-manifest";
import { describe, expect, test } from "vitest";
import { DEPLOYED } from "../services.js";
import { buildOverlay, hasKubectl, type Manifest } from "./manifests.js";
import { matches, type Selector } from "./network/network-policy.js";
import { podOf } from "./pod.js";

// This overlay contains all services; another test compares the chart with it.
const objects = hasKubectl() ? buildOverlay("single-cluster").objects : [];
const workloads = objects.flatMap((object) => {
  const pod = podOf(object);
  return pod === undefined ? [] : [{ name: object.metadata.name, object, pod, container: pod.spec.containers[0] }];
});
const ofKind = <Spec>(kind: string) =>
  objects.filter((object) => object.kind === kind).map((object) => object as Manifest & { readonly spec: Spec });

describe.skipIf(!hasKubectl()).each(workloads)("$name", ({ name, object, pod, container }) => {
  test("has startup, liveness and readiness probes at one of its ports", () => {
    const probes = [container?.startupProbe, container?.livenessProbe, container?.readinessProbe].map((probe) => probe?.httpGet);
    expect(probes).toEqual(["/healthz", "/healthz", "/readyz"].map((path) => ({ path, port: "ops" })));
    expect(container?.ports.map((port) => port.name)).toContain("ops");
  });

  test("has one Service with ports of its pods", () => {
    const services = ofKind<{ selector: Record<string, string>; ports: { targetPort: string }[] }>("Service").filter(({ spec }) =>
      matches({ matchLabels: spec.selector }, pod.metadata.labels),
    );
    expect(services.map(({ metadata }) => metadata.name)).toEqual([name]);
    const ports = container?.ports.map((port) => port.name);
    expect(services.flatMap(({ spec }) => spec.ports.map(({ targetPort }) => targetPort)).toSorted()).toEqual(ports?.toSorted());
  });

  test("has several replicas, of which one may be evicted at a time", () => {
    const budgets = ofKind<{ maxUnavailable: number; selector: Selector }>("PodDisruptionBudget").filter(({ spec }) =>
      matches(spec.selector, pod.metadata.labels),
    );
    expect(budgets.map(({ spec }) => spec.maxUnavailable)).toEqual([1]);
    const scalers = ofKind<{ scaleTargetRef: { name: string }; minReplicas: number }>("HorizontalPodAutoscaler").filter(
      ({ spec }) => spec.scaleTargetRef.name === name,
    );
    const { replicas } = object["spec"] as { readonly replicas?: number };
    // A replica count in the manifest would override the autoscaler at every `kubectl apply`.
    expect(scalers.map(({ spec }) => spec.minReplicas)).toEqual(replicas === undefined ? [2] : []);
    expect(replicas ?? 2).toBe(2);
  });

  test("declares resources and a sufficient grace period", () => {
    expect(container?.resources).toEqual({
      requests: { cpu: expect.anything() as unknown, memory: expect.anything() as unknown },
      limits: { memory: expect.anything() as unknown },
    });
    // The grace period covers 5 s until clients stop calling and 20 s in which the service finishes
    // its work.
    expect(pod.spec.terminationGracePeriodSeconds).toBeGreaterThan(25);
  });
});

test.skipIf(!hasKubectl())("only admin is autoscaled; other services shard their work or have a standby", () => {
  expect(ofKind<object>("HorizontalPodAutoscaler").map(({ metadata }) => metadata.name)).toEqual(["flyteadmin"]);
  expect(workloads.map(({ name }) => name).toSorted()).toEqual(
    DEPLOYED.filter(({ manifest }) => !manifest.optional)
      .map(({ manifest }) => serviceNames(manifest).kubernetes)
      .toSorted(),
  );
});
