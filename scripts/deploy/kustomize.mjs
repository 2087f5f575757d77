// Files of deploy/kubernetes that follow from the manifests.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { root } from "../prepare.mjs";
import { accessObjects, serviceObjects } from "./kubernetes-objects.mjs";
import { networkPolicies } from "./network-policies.mjs";
import { HEADER, printYaml, yamlFile } from "./yaml.mjs";

const FOLDER = "deploy/kubernetes";
const PLANES = { control: "control-plane", data: "data-plane" };
/** Endpoints of services in the same cluster. */
const ADMIN = "flyteadmin:81";
const CATALOG = "datacatalog:89";
const OVERLAY_MARK = "# Generated from the manifests of the services; the lines above are written by hand.\n";
const REGISTRY = "registry.example.com/flyte-ts";

/** @returns {Map<string, string>} path → text */
export function kubernetesFiles({ services, model }) {
  const deployed = services.filter(({ kubernetes }) => kubernetes !== undefined);
  const always = deployed.filter(({ optional }) => !optional);
  const files = new Map();
  const put = (path, text) => files.set(`${FOLDER}/${path}`, text);
  for (const [plane, folder] of Object.entries(PLANES)) {
    const ofPlane = always.filter((service) => service.plane === plane);
    const settings = `flyte-${folder}-settings`;
    putServices(ofPlane, { folder, configMaps: { settings, site: "flyte-site" }, put, model });
    const own = plane === "data" ? ["resource-definition.yaml"] : [];
    put(`${folder}/kustomization.yaml`, yamlFile(kustomization({ services: ofPlane, own, settings })));
  }
  for (const service of deployed.filter(({ optional }) => optional)) putOptional(service, { put, model });
  for (const service of deployed.filter(({ requires }) => requires.kubernetes === "data-planes"))
    put("admin-access/access.yaml", yamlFile(...accessObjects(service)));
  for (const service of deployed) {
    for (const component of new Set(service.permissions.flatMap((rule) => rule.component ?? [])))
      put(`${component}/access/access.yaml`, yamlFile(...accessObjects(service, component)));
  }
  put("network/policies.yaml", yamlFile(...networkPolicies({ services: deployed, model })));
  put("gcs-key/kustomization.yaml", gcsKey(deployed));
  put("sign-in/kustomization.yaml", signIn(deployed));
  for (const [path, text] of overlayFiles(always)) put(path, text);
  return files;
}

function putServices(services, { folder, configMaps, put, model }) {
  for (const service of services) {
    put(`${folder}/${service.id}.yaml`, yamlFile(...serviceObjects(service, configMaps)));
    const about = `# They hold in every cluster; a site has its own in site/${service.id}.yaml, which win.\n`;
    put(`${folder}/settings/${service.id}.yaml`, HEADER + about + printYaml(kubernetesSettings(service, model)));
  }
}

/**
 * Settings that hold in every cluster. Addresses, buckets and data planes stand in the overlay's
 * `site/`.
 */
export function kubernetesSettings({ requires, settings }, { mergeSettings }) {
  const derived = {
    ...(requires.kubernetes === "own" && { kubernetes: { inCluster: true } }),
    ...(requires.admin !== undefined && { admin: { endpoint: ADMIN } }),
    ...(requires.catalog !== undefined && { catalog: { endpoint: CATALOG } }),
  };
  return mergeSettings(derived, settings.kubernetes);
}

function kustomization({ services, own, settings, site }) {
  return {
    apiVersion: "kustomize.config.k8s.io/v1beta1",
    kind: "Kustomization",
    resources: [...own, ...services.map(({ id }) => `${id}.yaml`)],
    configMapGenerator: [
      { name: settings, files: services.map(({ id }) => `settings/${id}.yaml`) },
      ...(site === undefined ? [] : [{ name: site, files: services.map(({ id }) => `site/${id}.yaml`) }]),
    ],
    labels: [{ pairs: { "app.kubernetes.io/part-of": "flyte-ts" }, includeTemplates: true }],
    components: [`${services.some(({ optional }) => optional) ? "../" : ""}../workload`],
  };
}

/** An optional service is a base of its own, which overlays add to `resources`. */
function putOptional(service, { put, model }) {
  const folder = `optional/${service.id}`;
  const configMaps = { settings: `${service.names.kubernetes}-settings`, site: `${service.names.kubernetes}-site` };
  putServices([service], { folder, configMaps, put, model });
  put(`${folder}/site/${service.id}.yaml`, `${HEADER}# An overlay replaces this file: configMapGenerator with behavior: replace.\n{}\n`);
  put(`${folder}/kustomization.yaml`, yamlFile(kustomization({ services: [service], own: [], ...configMaps })));
}

function gcsKey(services) {
  const names = services.filter(({ requires }) => requires.blobStore !== undefined).map((service) => service.names.kubernetes);
  return component({
    about:
      "The key file of a service account for Google Cloud Storage, from the Secret flyte-gcs (key.json), where pods have no identity of their own.",
    names,
    operations: [
      ["volumes", { name: "gcs", secret: { secretName: "flyte-gcs", defaultMode: 288 } }],
      ["containers/0/volumeMounts", { name: "gcs", mountPath: "/etc/flyte/gcs", readOnly: true }],
      ["containers/0/env", { name: "GOOGLE_APPLICATION_CREDENTIALS", value: "/etc/flyte/gcs/key.json" }],
    ],
  });
}

function signIn(services) {
  const clients = services.filter(({ requires }) => requires.admin !== undefined);
  return component({
    about: `The secrets of the services' own clients, as files: ${clients.map(({ id }) => `/etc/flyte/engine/${id}`).join(", ")}.`,
    names: clients.map((service) => service.names.kubernetes),
    operations: [
      ["volumes", { name: "engine", secret: { secretName: "flyte-engine", defaultMode: 288 } }],
      ["containers/0/volumeMounts", { name: "engine", mountPath: "/etc/flyte/engine", readOnly: true }],
    ],
  });
}

/** A component that appends to lists of the pods of some workloads. */
function component({ about, names, operations }) {
  const patch = operations.map(([list, value]) => ({ op: "add", path: `/spec/template/spec/${list}/-`, value }));
  const text = printYaml({
    apiVersion: "kustomize.config.k8s.io/v1alpha1",
    kind: "Component",
    patches: [{ target: { kind: "(Deployment|StatefulSet)", name: `(${names.join("|")})` }, patch: printYaml(patch) }],
  });
  return `${HEADER}# ${about}\n${text}`;
}

/**
 * Overlays: their list of settings and images; a site's own settings are written once, then by
 * hand.
 */
function overlayFiles(services) {
  return readdirSync(join(root, FOLDER, "overlays")).flatMap((overlay) => {
    const path = `overlays/${overlay}`;
    const [head] = readFileSync(join(root, FOLDER, path, "kustomization.yaml"), "utf8").split(OVERLAY_MARK);
    const { resources } = parse(head);
    const planes = Object.entries(PLANES).flatMap(([plane, folder]) => (resources.includes(`../../${folder}`) ? [plane] : []));
    const listed = services.filter(({ plane }) => planes.includes(plane));
    const tail = printYaml({
      configMapGenerator: [{ name: "flyte-site", files: listed.map(({ id }) => `site/${id}.yaml`) }],
      images: listed.map(({ names }) => ({ name: `flyte-ts/${names.image}`, newName: `${REGISTRY}/${names.image}`, newTag: "dev" })),
    });
    const sites = listed
      .map(({ id }) => `${path}/site/${id}.yaml`)
      .filter((site) => !existsSync(join(root, FOLDER, site)))
      .map((site) => [
        site,
        planes.includes("control") ? "{}\n" : "# Name of this data plane, as in the control plane's `site/admin.yaml`.\ncluster: east\n",
      ]);
    return [[`${path}/kustomization.yaml`, head + OVERLAY_MARK + tail], ...sites];
  });
}
