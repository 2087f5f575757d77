import { z } from "zod";

/**
 * How the API of a Kubernetes cluster is reached, and as whom: the same keys in the configuration of every service.
 * At most one of `kubeconfig`, `inCluster` and `endpoint`; without any of them the file in KUBECONFIG or ~/.kube/config counts,
 * or, in a pod, its service account.
 */
export const kubernetesAccess = {
  /** Path of a kubeconfig file. */
  kubeconfig: z.string().optional(),
  /** Context of that file; absent: its current one. */
  context: z.string().optional(),
  /** As the service account of the pod that this runs in. */
  inCluster: z.boolean().default(false),
  /** Address of the API, as https://10.0.0.1:6443; who asks then stands in `auth`. */
  endpoint: z.string().optional(),
  auth: z
    .strictObject({
      /** File with a bearer token; read again every minute, for tokens are renewed. */
      tokenPath: z.string().optional(),
      /** File with the certificate that the API's is signed by, PEM; absent: those that the system trusts. */
      certPath: z.string().optional(),
    })
    .optional(),
};

export type KubernetesAccess = z.infer<z.ZodObject<typeof kubernetesAccess>>;

/** Reports what does not fit together, by key. For `superRefine` of a schema that has the keys. */
export function checkKubernetesAccess(access: KubernetesAccess, report: z.core.$RefinementCtx): void {
  const { kubeconfig, context, inCluster, endpoint, auth } = access;
  const issue = (key: keyof KubernetesAccess, message: string) => report.addIssue({ code: "custom", path: [key], message });
  const given = [kubeconfig !== undefined && "kubeconfig", inCluster && "inCluster", endpoint !== undefined && "endpoint"].filter(
    (name) => name !== false,
  );
  if (given.length > 1) issue(given[1] as keyof KubernetesAccess, `${given.join(" and ")} are given: one way to reach the API is enough`);
  if (context !== undefined && (inCluster || endpoint !== undefined)) issue("context", "a context is one of a kubeconfig file");
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    issue("endpoint", "it must be an address as https://10.0.0.1:6443");
  }
  if (auth !== undefined && endpoint === undefined) issue("auth", "tokenPath and certPath belong to an endpoint");
}
