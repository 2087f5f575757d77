// The chart's values: description, default (from the manifests where they have one) and schema.
import { BASES, COMPONENTS } from "./composition.mjs";
import { SECRETS, SERVICES } from "./services.mjs";

const text = { type: "string" };
const name = { type: "string", minLength: 1 };
const count = { type: "integer", minimum: 0 };
const anyMap = { type: "object" };
const texts = { type: "object", additionalProperties: { type: "string" } };
const objects = { type: "array", items: { type: "object" } };

/** A value, or a group of values. */
const value = (about, fallback, schema) => ({ about, fallback, schema });
const group = (about, entries) => ({ about, entries });

/** Features that are on by default, as in the overlay single-cluster: all but sign-in. */
const ON = new Set(["controlPlane", "dataPlane", "networkPolicies", "adminInCluster"]);

/** @param defaults objects of the manifests */
export function valuesOf(defaults) {
  return {
    parts: group("What is installed: parts and components of deploy/kubernetes.", parts()),
    image: group("Images: REGISTRY/NAME:TAG, where a service does not name another one.", {
      registry: value("Without a slash at its end.", "registry.example.com/flyte-ts", name),
      tag: value("Absent: the chart's appVersion.", "", text),
      pullPolicy: value("Absent: as Kubernetes chooses.", "", { enum: ["", "Always", "IfNotPresent", "Never"] }),
      pullSecrets: value("Each as {name: …}.", [], objects),
    }),
    secrets: group("Names of Secrets that exist; the chart makes none of them.", secrets()),
    console: group("The web console at /console.", {
      enabled: value("Admin serves it. False: another console, such as Flyte's own, has the path.", true, { type: "boolean" }),
    }),
    clusterResources: group("With `parts.clusterResources`.", {
      templates: value("File → template (docs/guides/configure-data-planes.md).", templates(defaults), texts),
    }),
    ...Object.fromEntries(Object.entries(SERVICES).map(([container, service]) => [service.values, forService(container, defaults)])),
  };
}

function parts() {
  const all = [...Object.values(BASES), ...Object.values(COMPONENTS)].filter(({ about }) => about !== undefined);
  return Object.fromEntries(all.map(({ part, about }) => [part, value(about, ON.has(part), { type: "boolean" })]));
}

function secrets() {
  return Object.fromEntries(Object.entries(SECRETS).map(([secret, { values, about }]) => [values, value(about, secret, name)]));
}

function templates(defaults) {
  return defaults.find(({ metadata }) => metadata.name === "flyte-templates")?.data ?? {};
}

function forService(container, defaults) {
  const workload = defaults.find(({ spec }) => spec?.template?.spec.containers?.[0].name === container);
  const scaler = defaults.find(
    ({ kind, spec }) => kind === "HorizontalPodAutoscaler" && spec.scaleTargetRef.name === workload.metadata.name,
  );
  const scale =
    scaler === undefined
      ? { replicas: value("", workload.spec.replicas, count) }
      : {
          autoscaling: group("By processor time; the cluster needs a metrics server. The same number twice: so many.", {
            minReplicas: value("", scaler.spec.minReplicas, { type: "integer", minimum: 1 }),
            maxReplicas: value("", scaler.spec.maxReplicas, { type: "integer", minimum: 1 }),
          }),
        };
  // The descriptions for the first service apply to the other services.
  const isFirst = container === Object.keys(SERVICES)[0];
  const say = (about) => (isFirst ? about : "");
  return group(`The service ${workload.metadata.name}.${isFirst ? "" : " Its values are those of the service admin."}`, {
    settings: value(say("Its settings, as in an overlay's site/ (docs/reference/configuration)."), {}, anyMap),
    ...scale,
    resources: value("", workload.spec.template.spec.containers[0].resources, anyMap),
    image: value(say("The whole name of an image, in the place of that of `image`."), "", text),
    env: value(say("Further environment variables, as in a container."), [], objects),
    accountAnnotations: value(say("Of its ServiceAccount: for a cloud's workload identity."), {}, texts),
    podAnnotations: value("", {}, texts),
    podLabels: value("", {}, texts),
    nodeSelector: value("", {}, texts),
    tolerations: value("", [], objects),
    affinity: value("", {}, anyMap),
    priorityClassName: value("", "", text),
  });
}

/** JSON schema of the values; it refuses unknown names. */
export function schemaOf(values) {
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "Values of the chart flyte-ts",
    ...groupSchema({ global: ANY, ...values }),
  };
}

/** Helm passes this value to every chart. */
const ANY = { about: "Of charts that this one is part of.", schema: anyMap };

function groupSchema(entries) {
  const properties = Object.entries(entries).map(([key, entry]) => {
    const schema = entry.entries === undefined ? entry.schema : groupSchema(entry.entries);
    return [key, { ...(entry.about !== "" && { description: entry.about }), ...schema }];
  });
  return { type: "object", additionalProperties: false, properties: Object.fromEntries(properties) };
}
