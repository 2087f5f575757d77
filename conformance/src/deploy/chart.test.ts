import { readFileSync } from "node:fs";
import { join } from "node:path";
import { serviceNames } from "@flyte-ts/service-manifest";
import { parse } from "yaml";
import { describe, expect, test } from "vitest";
import { chart, chartFolder, overlayArguments } from "./chart.js";
import { buildOverlay, hasKubectl, type Manifest, overlays } from "./manifests.js";
import { DEPLOYED, OPTIONAL_FOLDERS } from "../services.js";

const helm = await chart();

describe.skipIf(helm === undefined)("the Helm chart", () => {
  const template = (...args: readonly string[]) => {
    if (helm === undefined) throw new Error("no Helm");
    return helm.template(args);
  };

  test.skipIf(!hasKubectl()).each(overlays())("equals overlay %s, object by object, with its values", (overlay) => {
    const expected = comparable(buildOverlay(overlay).objects);
    expect(comparable(template(...overlayArguments(overlay)).objects)).toEqual(expected);
  });

  test.skipIf(!hasKubectl())("equals kustomize with every component", () => {
    const components = ["gcs-key", "cluster-resources/templates", "cluster-resources/access"];
    const expected = comparable(buildOverlay("single-cluster", { components, resources: ["monitoring"] }).objects);
    const given = template(
      ...overlayArguments("single-cluster"),
      "--set",
      "parts.gcsKey=true,parts.clusterResources=true,parts.monitoring=true",
    );
    expect(comparable(given.objects)).toEqual(expected);
    expect(Object.keys(expected)).toEqual(expect.arrayContaining(["PrometheusRule flyte/flyte-ts", "ConfigMap flyte/flyte-templates"]));
  });

  test.skipIf(!hasKubectl())("equals kustomize with all optional services", () => {
    const components = ["kubeconfigs", "gcs-key"];
    const expected = comparable(buildOverlay("single-cluster-sign-in", { components, resources: OPTIONAL_FOLDERS }).objects);
    // Without names in the overlay, the images are those of the bases.
    const services = DEPLOYED.filter(({ manifest }) => manifest.optional).map(({ manifest }) => serviceNames(manifest));
    const settings = services.flatMap(({ helm: value, image }) => [`parts.${value}=true`, `${value}.image=flyte-ts/${image}`]);
    const given = template(
      ...overlayArguments("single-cluster-sign-in"),
      "--set",
      ["parts.gcsKey=true", "parts.kubeconfigs=true", ...settings].join(),
    );
    expect(comparable(given.objects)).toEqual(expected);
    expect(Object.keys(expected)).toContain("Deployment flyte/flyte-plugin-web-api");
  });

  test("prints the Secrets of the enabled parts, with the keys of their services", () => {
    const secrets = (...parts: readonly string[]) =>
      (helm?.notes(["--set", parts.map((part) => `parts.${part}`).join()]) ?? "").split("\n").filter((line) => line.startsWith("  "));
    const blobs = "  flyte-blobs (access-key-id, secret-access-key, azure-account-key), unless pods have credentials of their own";
    expect(secrets("adminInCluster=false", "dataPlane=false")).toEqual([
      "  flyte-database (admin, datacatalog, scheduler)",
      "  flyte-bus (admin)",
      blobs,
    ]);
    expect(secrets("adminInCluster=false", "controlPlane=false", "signIn=true", "gcsKey=true", "pluginWebApi=true")).toEqual([
      "  flyte-bus (propeller, plugin-echo, plugin-pod, plugin-web-api)",
      blobs,
      "  flyte-engine (propeller)",
      "  flyte-gcs (key.json)",
      "  flyte-hive (password, accessToken), each if plugin-web-api needs it",
      "  flyte-trino (password, accessToken), each if plugin-web-api needs it",
    ]);
  });

  test("passes Helm's own checks", () => {
    expect(helm?.run(["lint", "--strict", "--kube-version", "1.34.1", chartFolder])).toContain("0 chart(s) failed");
  });

  test("can be installed in any namespace", () => {
    const { text } = template("--namespace", "other", "--set", "parts.monitoring=true,parts.clusterResources=true,parts.namespace=true");
    expect(text).not.toMatch(/namespace: "?flyte"?$/m);
    const bindings = template("--namespace", "other").objects.filter(({ kind }) => kind.endsWith("RoleBinding"));
    expect(bindings.map(({ subjects }) => subjects)).toEqual(
      bindings.map(() => [expect.objectContaining({ kind: "ServiceAccount", namespace: "other" })]),
    );
    expect(bindings.length).toBeGreaterThan(0);
  });

  test("uses every value", () => {
    const settings = [
      "image.tag=1.2.3,image.pullPolicy=Always,image.pullSecrets[0].name=registry,secrets.bus=my-bus",
      "propeller.replicas=5,propeller.image=elsewhere/p:1,propeller.nodeSelector.pool=system,propeller.podLabels.team=a",
      "propeller.env[0].name=AWS_REGION,propeller.env[0].value=eu-1,propeller.settings.cluster=east",
      "propeller.tolerations[0].key=system,propeller.priorityClassName=high,propeller.podAnnotations.note=b",
      "admin.autoscaling.minReplicas=3,admin.accountAnnotations.role=arn,admin.resources.limits.cpu=2",
    ];
    const { text, objects } = template(...settings.flatMap((each) => ["--set", each]));
    const of = (kind: string, name: string) => objects.find((each) => each.kind === kind && each.metadata.name === name);
    const pod = {
      imagePullSecrets: [{ name: "registry" }],
      nodeSelector: { pool: "system" },
      tolerations: [{ key: "system" }],
      priorityClassName: "high",
    };
    const propeller = of("StatefulSet", "flytepropeller") as Manifest & {
      spec: { template: { spec: { containers: [{ env: unknown }] } } };
    };
    expect(propeller).toMatchObject({
      spec: {
        replicas: 5,
        template: {
          metadata: { labels: { team: "a" }, annotations: { note: "b" } },
          spec: { ...pod, containers: [{ image: "elsewhere/p:1", imagePullPolicy: "Always" }] },
        },
      },
    });
    expect(propeller.spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: "AWS_REGION", value: "eu-1" },
        { name: "FLYTE_TS_PROPELLER_NATS__URL", valueFrom: { secretKeyRef: { name: "my-bus", key: "propeller" } } },
      ]),
    );
    expect(of("ConfigMap", "flyte-site")).toMatchObject({ data: { "propeller.yaml": "cluster: east\n" } });
    expect(of("HorizontalPodAutoscaler", "flyteadmin")).toMatchObject({ spec: { minReplicas: 3 } });
    expect(of("ServiceAccount", "flyteadmin")).toMatchObject({ metadata: { annotations: { role: "arn" } } });
    const admin = { image: "registry.example.com/flyte-ts/admin:1.2.3", resources: { limits: { cpu: 2 } } };
    expect(of("Deployment", "flyteadmin")).toMatchObject({ spec: { template: { spec: { containers: [admin] } } } });
    expect(text).not.toContain("flyte-bus");
  });

  test.each([
    ["an unknown key", "propeler.replicas=2", /propeler/],
    ["a key of an unknown service", "propeller.replica=2", /replica/],
    ["a value of another type", "propeller.replicas=two", /replicas/],
    ["a client secret for a remote admin, beside admin", "parts.adminAccount=true", /parts\.adminAccount: /],
    ["an admin in the cluster, and no control plane", "parts.controlPlane=false", /parts\.adminInCluster: /],
  ])("refuses %s", (_, setting, message) => {
    expect(() => template("--set", setting)).toThrow(message);
  });

  test("restarts pods when settings change", () => {
    const hashes = (setting: string) =>
      template("--set", setting).objects.flatMap(({ kind, spec }) =>
        kind === "Deployment" ? [(spec as { template: { metadata: { annotations: object } } }).template.metadata.annotations] : [],
      );
    const [one, other] = [hashes("admin.settings.logLevel=info"), hashes("admin.settings.logLevel=debug")];
    expect(one.filter((each, at) => JSON.stringify(each) !== JSON.stringify(other[at]))).toHaveLength(1);
  });
});

test.skipIf(!hasKubectl())("the chart has a value for each Secret that its objects refer to", () => {
  const components = ["gcs-key", "kubeconfigs"];
  const { objects } = buildOverlay("single-cluster-sign-in", { components, resources: OPTIONAL_FOLDERS });
  const references = JSON.stringify(objects).matchAll(/"secretKeyRef":\{[^}]*"name":"([^"]+)"|"secretName":"([^"]+)"/g);
  const referred = new Set([...references].map(([, key, volume]) => key ?? volume));
  const values = parse(readFileSync(join(chartFolder, "values.yaml"), "utf8")) as { readonly secrets: Readonly<Record<string, string>> };
  expect(Object.values(values.secrets).toSorted()).toEqual([...referred].toSorted());
});

/**
 * Keys objects by name and removes intended differences: the hash of the content that kustomize
 * appends to a ConfigMap's name, and the hash of the settings that the chart adds to pods. Parses
 * settings, so that comments and the order of keys do not count.
 */
function comparable(objects: readonly Manifest[]): Readonly<Record<string, unknown>> {
  const hashes = objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata }) => metadata.name);
  const plain = hashes.reduce(
    (text, name) => text.replaceAll(`"${name}"`, `"${name.replace(/-[2-9bcdfghkmt]{10}$/, "")}"`),
    JSON.stringify(objects),
  );
  const named = (JSON.parse(plain) as Manifest[]).map((object) => {
    const { kind, metadata } = object;
    return [`${kind} ${metadata.namespace ?? ""}/${metadata.name}`, kind === "ConfigMap" ? parsed(object) : withoutHash(object)] as const;
  });
  expect(new Set(named.map(([name]) => name)).size).toBe(named.length);
  return Object.fromEntries(named);
}

function parsed(object: Manifest): unknown {
  const data = Object.entries(object["data"] as Record<string, string>).map(([file, text]) => {
    const isSettings = file.endsWith(".yaml") && object.metadata.name !== "flyte-templates";
    return [file, isSettings ? (parse(text) as unknown) : text] as const;
  });
  return { ...object, data: Object.fromEntries(data) };
}

function withoutHash(object: Manifest): unknown {
  return JSON.parse(JSON.stringify(object), (key, value: unknown) => {
    if (key !== "annotations") return value;
    const { "checksum/settings": _, ...others } = value as Record<string, string>;
    return Object.keys(others).length === 0 ? undefined : others;
  }) as unknown;
}
