import { type KubeClient, type KubeObject, PODS } from "@flyte-ts/kubernetes";
import { NAME_LABEL, ownerOf, type Submission, SUBMISSION_LABEL, type Submit } from "@flyte-ts/test-operators";

/** Creates a driver's pod as `spark-submit` in cluster mode does, without Spark. */
export function createDriver(client: KubeClient): Submit {
  return (submission) => client.create(PODS, driverOf(submission));
}

function driverOf({ application, driverName, id }: Submission): KubeObject {
  const { metadata, spec } = application;
  const { image, driver } = spec;
  const operators = { [NAME_LABEL]: metadata.name, [SUBMISSION_LABEL]: id };
  const labels = { ...driver.labels, ...operators, "spark-role": "driver", "spark-app-selector": `spark-${id}` };
  const container = { name: "spark-kubernetes-driver", image: driver.image ?? image, env: driver.env, args: ["driver"] };
  const { containers: _, ...rest } = driver.template?.spec ?? { containers: [] };
  return {
    metadata: {
      namespace: metadata.namespace,
      name: driverName,
      labels,
      annotations: driver.annotations,
      ownerReferences: [ownerOf(application)],
    },
    spec: { ...rest, containers: [container], restartPolicy: "Never" },
  } as KubeObject;
}
