import { retry } from "@flyte-ts/async";
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  isAlreadyExists,
  isTransient,
  type KubeClient,
  KubeError,
  type KubeObject,
  NAMESPACES,
  type ResourceRef,
} from "@flyte-ts/kubernetes";
import type { Logger } from "@flyte-ts/telemetry";
import { FLYTE_WORKFLOW_CRD, FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";

export interface PrerequisiteOptions {
  readonly client: KubeClient;
  readonly logger: Logger;
  readonly createCrd: boolean;
  /** Namespace of the Lease objects. */
  readonly namespace: string;
}

/** Waits for the API server and ensures propeller's prerequisites. */
export async function ensurePrerequisites({ client, logger, createCrd, namespace }: PrerequisiteOptions): Promise<void> {
  const retryTransient = (what: string, attempt: () => Promise<void>) => {
    const isRetryable = (error: unknown) => isTransient(error) || (error instanceof KubeError && error.status === 404);
    const onRetry = (error: unknown) => logger.warn({ what, error: String(error) }, "waiting for the Kubernetes API");
    return retry(attempt, { initialMs: 50, maxMs: 5_000, isRetryable, onRetry });
  };
  await retryTransient("namespace", () =>
    create(client, NAMESPACES, { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } }),
  );
  if (createCrd)
    await retryTransient("resource definition", () => create(client, CUSTOM_RESOURCE_DEFINITIONS, FLYTE_WORKFLOW_CRD as KubeObject));
  // A new custom resource definition is served shortly after its creation.
  await retryTransient("workflows", async () => {
    await client.list(FLYTE_WORKFLOW_RESOURCE, { maxItems: 1, metadataOnly: true });
  });
}

/**
 * Creates the object unless it exists. Without permission to read, it tries the creation; without
 * permission to create, the object must exist.
 */
async function create(client: KubeClient, ref: ResourceRef, object: KubeObject): Promise<void> {
  const found = await client.get(ref, { name: object.metadata.name, metadataOnly: true }).catch((error: unknown) => {
    if (error instanceof KubeError && error.status === 403) return undefined;
    throw error;
  });
  if (found !== undefined) return;
  try {
    await client.create(ref, object);
  } catch (error) {
    if (!isAlreadyExists(error)) throw error;
  }
}
