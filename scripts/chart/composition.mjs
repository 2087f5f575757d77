// Folders of deploy/kubernetes in the chart, with the value that enables each.

import { OPTIONAL } from "./services.mjs";

/** Folder of a kustomization → its value under `parts`, and a description. */
export const BASES = {
  "control-plane": { part: "controlPlane", about: "Admin, data catalog and scheduler.", file: "control-plane" },
  "data-plane": { part: "dataPlane", about: "The resource definition, propeller and the plugin services.", file: "data-plane" },
  network: {
    part: "networkPolicies",
    about: "Denies all connections to and from pods but those that the policies name.",
    file: "network",
  },
  monitoring: {
    part: "monitoring",
    about: "ServiceMonitor, alerts and Grafana dashboards, where the Prometheus operator is.",
    file: "monitoring",
  },
  namespace: {
    part: "namespace",
    about:
      "The namespace itself, with its Pod Security level. Not with `helm install`, which needs the namespace before: for `helm template`.",
    file: "namespace",
  },
  ...OPTIONAL,
};

const part = (name) => `.Values.parts.${name}`;

/**
 * Folder of a component → the bases that it changes, its value, and the condition under which it
 * applies. An overlay with the component enables the value.
 */
export const COMPONENTS = {
  "admin-in-cluster": {
    on: ["control-plane", "data-plane"],
    part: "adminInCluster",
    about: "Admin uses the cluster that it runs in as a data plane.",
    file: "admin-access",
  },
  "admin-account": {
    on: ["data-plane"],
    part: "adminAccount",
    about: "In a data plane whose admin is elsewhere: the account that it uses, and a token for its kubeconfig.",
    file: "admin-account",
  },
  kubeconfigs: {
    on: ["control-plane", "network"],
    part: "kubeconfigs",
    about:
      "Admin gets the kubeconfigs of data planes elsewhere, from the Secret of `secrets.dataPlanes`; their propellers may reach the data catalog.",
    file: "kubeconfigs",
  },
  "sign-in": {
    on: ["control-plane", "data-plane", ...Object.keys(OPTIONAL)],
    part: "signIn",
    about: "Propeller and scheduler get the secrets of their own clients, from the Secret of `secrets.engine`.",
    file: "sign-in",
  },
  "gcs-key": {
    on: ["control-plane", "data-plane", ...Object.keys(OPTIONAL)],
    part: "gcsKey",
    about: "Google Cloud Storage by a key file, from the Secret of `secrets.gcs`, where pods have no identity of their own.",
    file: "gcs-key",
  },
  "cluster-resources/templates": {
    on: ["control-plane"],
    part: "clusterResources",
    about: "Admin makes in its data planes what `clusterResources.templates` say, and may do so.",
    condition: `and ${part("clusterResources")} ${part("controlPlane")}`,
    file: "cluster-resources",
  },
  "cluster-resources/access": {
    on: ["data-plane"],
    part: "clusterResources",
    // Clusters in which admin's account has permissions.
    condition: `and ${part("clusterResources")} (or ${part("adminInCluster")} ${part("adminAccount")})`,
    file: "cluster-resources",
  },
};

/** Condition under which the objects of a folder exist. */
export function conditionOf({ part: name, condition }) {
  return condition ?? part(name);
}
