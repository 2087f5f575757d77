import { z } from "zod";

/**
 * Address and credentials of a Kubernetes API: the same keys in the configuration of every service.
 * At most one of `kubeconfig`, `inCluster` and `endpoint`; without them the file in KUBECONFIG or
 * ~/.kube/config applies, or, in a pod, its service account.
 */
export const kubernetesSettings = {
  /** Path of a kubeconfig file. */
  kubeconfig: z.string().optional(),
  /** Context of that file; absent: its current one. */
  context: z.string().optional(),
  /** Use the service account of this process's pod. */
  inCluster: z.boolean().default(false),
  /** Address of the API, such as https://10.0.0.1:6443; `auth` then holds the credentials. */
  endpoint: z.string().optional(),
  /** Credentials for `endpoint`. */
  auth: z
    .strictObject({
      /** File with a bearer token; read again every minute, since tokens are renewed. */
      tokenPath: z.string().optional(),
      /** File with the CA certificate of the API server, PEM; absent: the system's CAs. */
      certPath: z.string().optional(),
    })
    .optional(),
};

export type KubernetesSettings = z.infer<z.ZodObject<typeof kubernetesSettings>>;

/** Reports conflicting keys. For `superRefine` of a schema that has the keys. */
export function checkKubernetesSettings(settings: KubernetesSettings, refinement: z.core.$RefinementCtx): void {
  const { kubeconfig, context, inCluster, endpoint, auth } = settings;
  const issue = (key: keyof KubernetesSettings, message: string) => refinement.addIssue({ code: "custom", path: [key], message });
  const given = [kubeconfig !== undefined && "kubeconfig", inCluster && "inCluster", endpoint !== undefined && "endpoint"].filter(
    (name) => name !== false,
  );
  if (given.length > 1) issue(given[1] as keyof KubernetesSettings, `${given.join(" and ")} are mutually exclusive`);
  if (context !== undefined && (inCluster || endpoint !== undefined)) issue("context", "a context requires a kubeconfig");
  if (endpoint !== undefined && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    issue("endpoint", "it must be an address as https://10.0.0.1:6443");
  }
  if (auth !== undefined && endpoint === undefined) issue("auth", "tokenPath and certPath belong to an endpoint");
}
