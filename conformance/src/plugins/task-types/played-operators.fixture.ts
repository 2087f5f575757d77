import { createInformer, CUSTOM_RESOURCE_DEFINITIONS, type Informer, type KubeClient, type KubeObject } from "@flyte-ts/kubernetes";
import { createLogger } from "@flyte-ts/telemetry";
import { uncheckedDefinition } from "@flyte-ts/test-servers";

const TRAINED = { conditions: [{ type: "Succeeded", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }] };

/** Kinds of the operators, and the status that each writes at a success. */
const KINDS = [
  { group: "kubeflow.org", version: "v1", kind: "PyTorchJob", succeeded: TRAINED },
  { group: "kubeflow.org", version: "v1", kind: "TFJob", succeeded: TRAINED },
  { group: "kubeflow.org", version: "v1", kind: "MPIJob", succeeded: TRAINED },
  { group: "ray.io", version: "v1", kind: "RayJob", succeeded: { jobDeploymentStatus: "Complete", jobStatus: "SUCCEEDED" } },
  { group: "kubernetes.dask.org", version: "v1", kind: "DaskJob", succeeded: { jobStatus: "Successful" } },
  { group: "sparkoperator.k8s.io", version: "v1beta2", kind: "SparkApplication", succeeded: { applicationState: { state: "COMPLETED" } } },
];

/** A resource of an operator. */
export interface JobResource extends KubeObject {
  readonly kind: string;
  readonly spec: object;
}

/** Defines the kinds of all operators. */
export async function defineKinds(client: KubeClient): Promise<void> {
  for (const kind of KINDS) await client.create(CUSTOM_RESOURCE_DEFINITIONS, uncheckedDefinition(kind));
}

/**
 * Ends every job well, in place of the operators, and without pods: those would be processes of the
 * local cluster.
 *
 * @param onJob called once for each job, before its end
 */
export function playOperators(client: KubeClient, onJob: (job: JobResource) => Promise<void>): { stop(): Promise<void> } {
  const logger = createLogger({ service: "test", level: "silent" });
  const seen = new Set<string>();
  const informers = KINDS.map(({ group, version, kind, succeeded }): Informer<JobResource> => {
    const ref = { group, version, plural: `${kind.toLowerCase()}s`, namespaced: true };
    const end = async (job: JobResource) => {
      await onJob(job);
      const { namespace, name } = job.metadata;
      await client.mergePatch(ref, { namespace, name, body: { status: succeeded }, subresource: "status" });
    };
    return createInformer<JobResource>({
      client,
      ref,
      logger,
      onEvent: ({ type, object }) => {
        const { uid = "" } = object.metadata;
        if (type === "deleted" || seen.has(uid)) return;
        seen.add(uid);
        void end(object);
      },
    });
  });
  return { stop: async () => void (await Promise.all(informers.map((informer) => informer.stop()))) };
}
