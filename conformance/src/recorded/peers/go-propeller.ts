import { freePort } from "@flyte-ts/host";
import { blobStoreKeyOf, type RunningStack } from "../../stack/stack-fixture.js";
import { goStorage, type RunningProgram, startGoProgram } from "./go-program.js";
import { reconfigure, settingsOf } from "./reconfigure.js";

/**
 * A namespace without workflows: the stack's propeller watches only that and leaves all others to
 * Go FlytePropeller.
 */
const NO_WORKFLOWS = "flyte-ts-no-workflows";

/**
 * Replaces the propeller of a running stack by Go FlytePropeller, with the settings under which the
 * records were made.
 */
export async function startGoPropeller(stack: RunningStack, file: string): Promise<RunningProgram> {
  const { kubernetes, catalog } = settingsOf(stack, "propeller") as { kubernetes: object; catalog: { endpoint: string } };
  await reconfigure(stack, "propeller", { kubernetes: { ...kubernetes, namespace: NO_WORKFLOWS } });
  const profilerPort = await freePort();
  const queue = { type: "bucket", rate: 100, capacity: 1_000 };
  const settings = {
    admin: { endpoint: `dns:///127.0.0.1:${stack.api}`, insecure: true },
    "catalog-cache": { endpoint: `dns:///${catalog.endpoint}`, insecure: true, type: "datacatalog" },
    event: { type: "admin", rate: 500, capacity: 1_000 },
    logger: { level: 3, "show-source": true },
    propeller: {
      "kube-config": stack.kubeconfig,
      "rawoutput-prefix": "s3://my-s3-bucket/data",
      "metadata-prefix": "metadata/propeller",
      workers: 20,
      "max-workflow-retries": 50,
      "workflow-reeval-duration": "0.5s",
      "downstream-eval-duration": "0.5s",
      "limit-namespace": "all",
      "create-flyteworkflow-crd": false,
      "publish-k8s-events": false,
      "prof-port": profilerPort,
      "enable-admin-launcher": true,
      "leader-election": { enabled: false },
      "gc-interval": "12h",
      "max-ttl-hours": 23,
      "kube-client-config": { qps: 100, burst: 100, timeout: "30s" },
      queue: {
        type: "batch",
        "batching-interval": "100ms",
        "batch-size": -1,
        queue: { type: "maxof", rate: 100, capacity: 1_000, "base-delay": "100ms", "max-delay": "5s" },
        "sub-queue": queue,
      },
      "node-config": {
        "default-deadlines": { "node-execution-deadline": "0s", "node-active-deadline": "0s", "workflow-active-deadline": "0s" },
        "max-node-retries-system-failures": 3,
        "interruptible-failure-threshold": 1,
      },
      "array-node-config": { "event-version": 0, "default-parallelism-behavior": "unlimited" },
    },
    storage: goStorage(stack, blobStoreKeyOf(stack)),
    tasks: {
      "task-plugins": {
        "enabled-plugins": ["container", "sidecar", "K8S-ARRAY", "echo"],
        "default-for-task-types": { container: "container", "python-task": "container", container_array: "K8S-ARRAY", echo: "echo" },
      },
    },
    plugins: {
      logs: {
        "kubernetes-enabled": true,
        "kubernetes-template-uri": "http://localhost/{{ .namespace }}/{{ .podName }}/{{ .containerName }}",
        "cloudwatch-enabled": false,
        "stackdriver-enabled": false,
      },
      echo: { "sleep-duration": "0s" },
      k8s: {
        "default-cpus": "500m",
        "default-memory": "500Mi",
        "inject-finalizer": false,
        "default-annotations": [{ "cluster-autoscaler.kubernetes.io/safe-to-evict": "false" }],
      },
    },
  };
  // Go FlytePropeller requires the name and namespace of its own pod.
  const env = { POD_NAME: "flytepropeller-0", POD_NAMESPACE: "flyte" };
  return startGoProgram(stack, { name: "flytepropeller", file, settings, serve: [], env, profilerPort });
}
