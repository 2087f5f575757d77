import { type KubeClient, type KubeObject, PODS } from "@flyte-ts/kubernetes";

/** Annotation with the container of the task's code, in pods of pod specs. */
const PRIMARY = "primary_container_name";

interface ContainerStatus {
  readonly name: string;
  readonly state?: { readonly terminated?: object; readonly waiting?: { readonly reason?: string } };
}

interface Pod extends KubeObject {
  readonly spec: {
    readonly containers: readonly { readonly name: string }[];
    readonly initContainers?: readonly { readonly name: string }[];
  };
  readonly status?: {
    readonly phase?: string;
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface LoggedPod {
  readonly containers: readonly string[];
  /** Container of the task's code. */
  readonly primary: string;
  /** True when the container will write no more lines. */
  isOver(container: string): boolean;
}

/** Finds the pod, if it exists and belongs to the execution. @throws KubeError. */
export async function findPod(
  kube: Pick<KubeClient, "get">,
  { namespace, name, execution }: { readonly namespace: string; readonly name: string; readonly execution: string },
): Promise<LoggedPod | undefined> {
  const pod = await kube.get<Pod>(PODS, { namespace, name });
  const owner = pod?.metadata.labels?.["execution-id"];
  if (pod === undefined || (owner !== undefined && owner !== execution)) return undefined;
  const { spec, status } = pod;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])].map((each) => each.name);
  const named = pod.metadata.annotations?.[PRIMARY];
  const primary = [named, name, containers[0]].find((each) => each !== undefined && containers.includes(each)) ?? "";
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return {
    containers,
    primary,
    isOver: (container) =>
      status?.phase === "Succeeded" ||
      status?.phase === "Failed" ||
      statuses.find((each) => each.name === container)?.state?.terminated !== undefined,
  };
}
