import { isConflict, type KubeClient, type KubeObject, type ObjectName } from "@flyte-ts/kubernetes";
import { FINALIZER, FLYTE_WORKFLOW_RESOURCE, hasOnlyUpdateManagers } from "@flyte-ts/workflow-crd";
import type { ResourcePatch } from "../../engine/types.js";
import { differsInMetadataOnly, type StoredVersion } from "../../engine-io/write-gate.js";

/** Conflicts after which the run is reloaded after a backoff. */
const MAX_ATTEMPTS = 8;

/**
 * Clears managedFields, which the API server sets on each created resource: with them a write costs
 * the server three times as much and the resource is a third larger. A resource with a single
 * writer does not need them.
 */
const CLEAR_MANAGED_FIELDS = { managedFields: [{}] };

export interface ConditionalPatch {
  readonly name: ObjectName;
  readonly patch: Pick<ResourcePatch, "metadata" | "status">;
  readonly base: StoredVersion;
  /** True while this process may write. */
  readonly mayWrite: () => boolean;
}

/**
 * Patches a workflow if its specification and status are still those of the base. Other clients'
 * changes to metadata alone (labels and annotations, which any controller may set at any time)
 * change the version but not the generation: then the patch is retried with the new version,
 * without reloading the run. The same applies to a deletion request, which an abort sends while a
 * write is in flight.
 *
 * @throws KubeError, a conflict when more than that changed
 */
export async function patchConditionally(
  client: Pick<KubeClient, "get" | "mergePatch">,
  options: ConditionalPatch,
): Promise<StoredVersion> {
  const { name, patch, base, mayWrite } = options;
  let { resourceVersion, hasManagedFields = false } = base;
  let { metadata } = patch;
  for (let tries = 1; ; tries++) {
    try {
      const body = { ...patch, metadata: { ...metadata, resourceVersion, ...(hasManagedFields ? CLEAR_MANAGED_FIELDS : {}) } };
      const written = await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { ...name, body, metadataOnly: true });
      return versionOf(written);
    } catch (error) {
      if (!isConflict(error) || tries === MAX_ATTEMPTS) throw error;
      const now = await client.get(FLYTE_WORKFLOW_RESOURCE, { ...name, metadataOnly: true });
      if (now === undefined || !differsInMetadataOnly(base, versionOf(now)) || !mayWrite()) throw error;
      ({ resourceVersion, hasManagedFields = false } = versionOf(now));
      if (metadata !== undefined) metadata = { ...metadata, finalizers: foreignFinalizers(now) };
    }
  }
}

function versionOf({ metadata: { resourceVersion = "", generation, deletionTimestamp, managedFields } }: KubeObject): StoredVersion {
  const deletionRequested = deletionTimestamp !== undefined;
  return { resourceVersion, generation, deletionRequested, hasManagedFields: hasOnlyUpdateManagers(managedFields) };
}

function foreignFinalizers({ metadata }: KubeObject): readonly string[] | null {
  const others = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  return others.length === 0 ? null : others;
}
