import { isConflict, type KubeClient, type KubeObject, type ObjectName } from "@flyte-ts/kubernetes";
import { FINALIZER, FLYTE_WORKFLOW_RESOURCE, isRecordOfUpdates } from "@flyte-ts/workflow-crd";
import type { ResourcePatch } from "../engine/types.js";
import { sameButMetadata, type StoredVersion } from "../shell-core/run-io.js";

/** After so many conflicts the run is read again, after a pause. */
const TRIES = 8;

/**
 * Ends the record of who set which field, which the API server makes of each created resource: with it a write costs the
 * server three times as much, and the resource a third more. Nobody needs it of a resource that one process alone writes.
 */
const NO_RECORD = { managedFields: [{}] };

export interface PatchUpon {
  readonly name: ObjectName;
  readonly patch: Pick<ResourcePatch, "metadata" | "status">;
  readonly base: StoredVersion;
  /** Whether this process may still write. */
  readonly wanted: () => boolean;
}

/**
 * Patches a workflow on the condition that its specification and status are still
 * those of the base. What others do to its metadata alone (labels and annotations,
 * which any controller may set at any time) changes the version and not the
 * generation: then the patch is tried upon the new version, and the run need not be
 * read again. So it is when its deletion was asked for, which an abort does while a write is in flight.
 *
 * @throws KubeError, a conflict when there is more to it
 */
export async function patchUpon(client: Pick<KubeClient, "get" | "mergePatch">, options: PatchUpon): Promise<StoredVersion> {
  const { name, patch, base, wanted } = options;
  let { resourceVersion, fieldsTracked = false } = base;
  let { metadata } = patch;
  for (let tries = 1; ; tries++) {
    try {
      const body = { ...patch, metadata: { ...metadata, resourceVersion, ...(fieldsTracked ? NO_RECORD : {}) } };
      const written = await client.mergePatch(FLYTE_WORKFLOW_RESOURCE, { ...name, body, metadataOnly: true });
      return versionOf(written);
    } catch (error) {
      if (!isConflict(error) || tries === TRIES) throw error;
      const now = await client.get(FLYTE_WORKFLOW_RESOURCE, { ...name, metadataOnly: true });
      if (now === undefined || !sameButMetadata(base, versionOf(now)) || !wanted()) throw error;
      ({ resourceVersion, fieldsTracked = false } = versionOf(now));
      if (metadata !== undefined) metadata = { ...metadata, finalizers: othersFinalizers(now) };
    }
  }
}

function versionOf({ metadata: { resourceVersion = "", generation, deletionTimestamp, managedFields } }: KubeObject): StoredVersion {
  const deletionRequested = deletionTimestamp !== undefined;
  return { resourceVersion, generation, deletionRequested, fieldsTracked: isRecordOfUpdates(managedFields) };
}

function othersFinalizers({ metadata }: KubeObject): readonly string[] | null {
  const others = (metadata.finalizers ?? []).filter((finalizer) => finalizer !== FINALIZER);
  return others.length === 0 ? null : others;
}
