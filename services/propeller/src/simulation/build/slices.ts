import type { WorkflowStatus } from "@flyte-ts/workflow-crd";
import { assembleSlices, decodeSlice, type LoadedSlice, sliceUri } from "@flyte-ts/workflow-crd/slices";

/** A slice that the resource names does not exist. */
export class SliceGone extends Error {
  override readonly name = "SliceGone";
}

/** Status as a process reads it, including its slices. Throws SliceGone. */
export function withSlices(
  status: WorkflowStatus,
  blobs: ReadonlyMap<string, Uint8Array>,
): { readonly status: WorkflowStatus; readonly slices: readonly LoadedSlice[] } {
  const root = status.slices;
  if (root === undefined) return { status, slices: [] };
  const slices = Object.entries(root.names).map(([key, name]) => {
    const bytes = blobs.get(sliceUri(root.prefix, name));
    if (bytes === undefined) throw new SliceGone(name);
    return { key, name, entries: decodeSlice(bytes, key) };
  });
  return { status: { ...status, nodeStatus: assembleSlices(slices) }, slices };
}
