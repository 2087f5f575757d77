import { stringify } from "yaml";

/** A cluster and its only user in a kubeconfig. */
export interface KubeconfigCluster {
  /** Name of cluster, context and user. */
  readonly name: string;
  /** Address of the API. */
  readonly server: string;
  /** Bearer token; absent: no credentials. */
  readonly token?: string | undefined;
  /** CA certificate of the server, PEM. */
  readonly ca?: string | undefined;
}

/** Formats a kubeconfig with one cluster. */
export function kubeconfigText({ name, server, token, ca }: KubeconfigCluster): string {
  const authority = ca === undefined ? {} : { "certificate-authority-data": Buffer.from(ca).toString("base64") };
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server, ...authority } }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  };
  return stringify(config);
}
