import type { BlobStore } from "@flyte-ts/blobstore";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd";
import { assembleSlices, decodeSlice, MAX_SLICE_BYTES, sliceNotFound, sliceUri } from "@flyte-ts/workflow-crd/slices";

/**
 * Reads the node statuses of a resource, from the blob store when they are offloaded.
 *
 * @throws BlobError or WorkflowFormatError when they cannot be read.
 */
export async function nodeStatusesOf(
  blobs: Pick<BlobStore, "get">,
  status: WorkflowStatus | undefined,
): Promise<Readonly<Record<string, NodeStatus>>> {
  const root = status?.slices;
  if (root === undefined) return status?.nodeStatus ?? {};
  const slices = [];
  // Sequential: no caller waits for this, and only one encoded slice is in memory at a time.
  for (const [key, name] of Object.entries(root.names)) {
    const uri = sliceUri(root.prefix, name);
    const bytes = await blobs.get(uri, { maxBytes: MAX_SLICE_BYTES });
    if (bytes === undefined) throw sliceNotFound(key, uri);
    slices.push({ key, name, entries: decodeSlice(bytes, key) });
  }
  return assembleSlices(slices);
}
