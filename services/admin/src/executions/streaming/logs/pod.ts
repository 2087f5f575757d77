import { attemptLogTag, WARM_ASSIGNMENT_ANNOTATION, WARM_MODE_LABEL } from "@flyte-ts/domain/name";
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
  /** Marks the lines of the attempt in a pod that serves several. Undefined: all lines are its. */
  readonly tag: string | undefined;
  /** True when the container will write no more lines. */
  isOver(container: string): boolean;
}

export interface SoughtPod {
  readonly namespace: string;
  readonly name: string;
  readonly execution: string;
  /** Name of the attempt. */
  readonly generatedName: string;
}

/**
 * Finds the pod, if it exists and belongs to the execution, or may have served it. @throws
 * KubeError.
 */
export async function findPod(kube: Pick<KubeClient, "get">, sought: SoughtPod): Promise<LoggedPod | undefined> {
  const { namespace, name, execution, generatedName } = sought;
  const pod = await kube.get<Pod>(PODS, { namespace, name });
  if (pod === undefined) return undefined;
  const owner = pod.metadata.labels?.["execution-id"];
  const tag =
    pod.metadata.labels?.[WARM_MODE_LABEL] === "reused" && name !== generatedName ? attemptLogTag({ namespace, generatedName }) : undefined;
  if (tag === undefined && owner !== undefined && owner !== execution) return undefined;
  const isFree = tag !== undefined && assignedTag(pod) !== tag;
  const { spec, status } = pod;
  const containers = [...spec.containers, ...(spec.initContainers ?? [])].map((each) => each.name);
  const named = pod.metadata.annotations?.[PRIMARY];
  const primary = [named, name, containers[0]].find((each) => each !== undefined && containers.includes(each)) ?? "";
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return {
    containers,
    primary,
    tag,
    isOver: (container) =>
      isFree ||
      status?.phase === "Succeeded" ||
      status?.phase === "Failed" ||
      statuses.find((each) => each.name === container)?.state?.terminated !== undefined,
  };
}

/** Tag of the attempt that a reused pod serves now. */
function assignedTag({ metadata }: Pod): string | undefined {
  try {
    return (JSON.parse(metadata.annotations?.[WARM_ASSIGNMENT_ANNOTATION] ?? "{}") as { tag?: string }).tag;
  } catch {
    return undefined;
  }
}
