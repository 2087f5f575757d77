import { readFileSync } from "node:fs";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { startSparkOperator, startSparkSubmit } from "@flyte-ts/test-operators";
import { findSparkSubmit } from "@flyte-ts/test-servers";
import { parse } from "yaml";

/** Objects that an administrator creates for Spark: drivers start executors as `spark`. */
export const sparkObjects = (namespace: string): readonly object[] => [
  { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "spark", namespace } },
  {
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: "spark", namespace },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "edit" },
    subjects: [{ kind: "ServiceAccount", name: "spark", namespace }],
  },
];

interface Kubeconfig {
  readonly clusters: readonly [{ readonly cluster: { readonly server: string; readonly "certificate-authority-data": string } }];
  readonly users: readonly [{ readonly user: { readonly token: string } }];
}

/** Starts a Spark operator that submits with the real `spark-submit`; resolves to its stop. */
export async function startSpark(kubeconfig: string): Promise<() => Promise<void>> {
  const { clusters, users } = parse(readFileSync(kubeconfig, "utf8")) as Kubeconfig;
  const { server, "certificate-authority-data": ca } = clusters[0].cluster;
  const api = { url: server, token: users[0].user.token, ca: Buffer.from(ca, "base64").toString() };
  const spark = startSparkSubmit({ command: await findSparkSubmit(), api });
  const client = await createKubeClient({ kubeconfig });
  const logger = createLogger({ service: "test", level: "silent" });
  const operator = startSparkOperator({ client, logger, submit: spark.submit });
  return async () => {
    await operator.stop();
    await spark.stop();
    await client.close();
  };
}
