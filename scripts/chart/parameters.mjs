// Replaces the parts of manifests that a site configures by values.
import { SECRETS, SERVICES } from "./services.mjs";
import { Block, Document, OptionalBlock, Scalar, Spread, When } from "./tree.mjs";

/** Setting of admin: an empty folder means no web console. */
const NO_CONSOLE = "FLYTE_TS_ADMIN_CONSOLE__FOLDER";
const RELEASE_NAMESPACE = new Scalar(".Release.Namespace | quote");

/** Changes an object, including what components have added. */
export function parametrize(object) {
  const { kind, metadata } = object;
  if (metadata.namespace !== undefined) metadata.namespace = RELEASE_NAMESPACE;
  if (kind === "Namespace") metadata.name = RELEASE_NAMESPACE;
  for (const subject of object.subjects ?? []) subject.namespace = RELEASE_NAMESPACE;
  if (kind === "Deployment" || kind === "StatefulSet") workload(object);
  if (kind === "HorizontalPodAutoscaler") {
    const { values } = serviceOf(object.spec.scaleTargetRef.name);
    object.spec.minReplicas = new Scalar(`.Values.${values}.autoscaling.minReplicas`);
    object.spec.maxReplicas = new Scalar(`.Values.${values}.autoscaling.maxReplicas`);
  }
  if (kind === "ServiceAccount") {
    metadata.annotations = new OptionalBlock(`.Values.${serviceOf(metadata.name).values}.accountAnnotations`);
  }
  if (kind === "ConfigMap" && metadata.name === "flyte-templates") object.data = new Block(".Values.clusterResources.templates");
  if (kind === "ConfigMap") ownSite(object);
  secretNames(object);
}

/** Returns a service by its name in Kubernetes. */
function serviceOf(name) {
  return Object.values(SERVICES).find(({ account }) => account === name);
}

/** Puts the settings of the values into the ConfigMap of an optional service. */
function ownSite({ metadata, data }) {
  for (const [id, { values, siteConfigMap }] of Object.entries(SERVICES))
    if (siteConfigMap === metadata.name) data[`${id}.yaml`] = new Document(`.Values.${values}.settings`);
}

function workload({ spec }) {
  const { template } = spec;
  const pod = template.spec;
  if (pod.initContainers !== undefined || pod.containers.length !== 1) throw new Error("the chart knows pods of one container");
  const [container] = pod.containers;
  const service = SERVICES[container.name];
  const values = `.Values.${service.values}`;
  if (spec.replicas !== undefined) spec.replicas = new Scalar(`${values}.replicas`);
  template.metadata.labels.more = new Spread(`${values}.podLabels`);
  template.metadata.annotations = {
    // Restart pods when settings change.
    "checksum/settings": new Scalar(`list ${values}.settings .Chart.Version | toJson | sha256sum | quote`),
    more: new Spread(`${values}.podAnnotations`),
  };
  for (const [field, from] of [
    ["imagePullSecrets", ".Values.image.pullSecrets"],
    ["nodeSelector", `${values}.nodeSelector`],
    ["tolerations", `${values}.tolerations`],
    ["affinity", `${values}.affinity`],
  ])
    pod[field] = new OptionalBlock(from);
  pod.priorityClassName = new When(`${values}.priorityClassName`, new Scalar(`${values}.priorityClassName | quote`));
  container.image = new Scalar(`include "flyte-ts.image" (list . ${JSON.stringify(container.name)} ${values}.image) | quote`);
  container.imagePullPolicy = new When(".Values.image.pullPolicy", new Scalar(".Values.image.pullPolicy"));
  container.resources = new Block(`${values}.resources`);
  if (service.values === "admin") container.env.push(new When("not .Values.console.enabled", { name: NO_CONSOLE, value: "" }));
  container.env.push(new Spread(`${values}.env`));
}

/** All references to Secrets. */
function secretNames(value) {
  if (typeof value !== "object" || value === null) return;
  for (const [key, inner] of Object.entries(value)) {
    const name = key === "secretKeyRef" ? inner.name : key === "secret" ? inner.secretName : undefined;
    const known = name === undefined ? undefined : SECRETS[name];
    if (known === undefined) secretNames(inner);
    else inner[key === "secret" ? "secretName" : "name"] = new Scalar(`.Values.secrets.${known.values} | quote`);
  }
}
