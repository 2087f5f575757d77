import type { KubeObject } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { LaunchKube } from "./cluster.js";

// The name of a FlyteWorkflow is that of its execution alone. An execution of another project may
// share the namespace, depending on `namespaceTemplate`, and the name of a deleted execution may be
// used again while its resource is still there. Hence each reader and writer of the resource of an
// execution checks the identity in the resource first.

/** Identity of an execution in its resource. */
export interface ResourceOwner {
  readonly project: string;
  readonly domain: string;
  readonly name: string;
  /** Differs between two executions of one name. Resources have whole seconds. */
  readonly acceptedAt: Date;
}

/** A FlyteWorkflow in a data plane, as far as admin reads it. */
export interface ExecutionResource extends KubeObject {
  readonly executionId?: { readonly project?: string; readonly domain?: string; readonly name?: string };
  readonly acceptedAt?: string;
  readonly status?: WorkflowStatus;
}

/** Place of the resource of an execution. */
export interface ResourcePlace<Owner = ResourceOwner> {
  readonly namespace: string;
  readonly owner: Owner;
}

/** Returns the resource of an execution; undefined without one, or when it is of another one. */
export async function getOwnResource(
  kube: Pick<LaunchKube, "get">,
  { namespace, owner }: ResourcePlace,
): Promise<ExecutionResource | undefined> {
  const found = await kube.get<ExecutionResource>(FLYTE_WORKFLOW_RESOURCE, { namespace, name: owner.name });
  return found !== undefined && isOwnResource(found, owner) ? found : undefined;
}

/** Deletes the resource of an execution. Returns false without one, or when it is of another. */
export async function deleteOwnResource(kube: Pick<LaunchKube, "get" | "delete">, place: ResourcePlace): Promise<boolean> {
  const found = await getOwnResource(kube, place);
  return found !== undefined && deleteFoundResource(kube, found);
}

/** Deletes this resource, not a later one of its name. */
export function deleteFoundResource(kube: Pick<LaunchKube, "delete">, { metadata }: KubeObject): Promise<boolean> {
  const { namespace, name, uid } = metadata;
  return kube.delete(FLYTE_WORKFLOW_RESOURCE, { namespace, name, uid, propagation: "Background" });
}

/** True for the resource of this execution. */
export function isOwnResource(resource: ExecutionResource, owner: ResourceOwner): boolean {
  return hasIdOf(resource, owner) && acceptedSecond(resource) === Math.floor(owner.acceptedAt.getTime() / 1_000);
}

/** True for the resource of an execution of this name, project and domain. */
export function hasIdOf({ executionId }: ExecutionResource, { project, domain, name }: Omit<ResourceOwner, "acceptedAt">): boolean {
  return executionId?.project === project && executionId.domain === domain && executionId.name === name;
}

/** Names the execution of a resource, for messages. */
export function resourceOwnerText({ executionId, acceptedAt }: ExecutionResource): string {
  const { project = "?", domain = "?", name = "?" } = executionId ?? {};
  return `${project}/${domain}/${name} of ${acceptedAt ?? "an unknown time"}`;
}

function acceptedSecond({ acceptedAt }: ExecutionResource): number {
  return Math.floor(Date.parse(acceptedAt ?? "") / 1_000);
}
