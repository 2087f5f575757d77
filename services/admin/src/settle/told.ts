import type { BlobStore } from "@flyte-ts/blobstore";
import { nodeUniqueId } from "@flyte-ts/domain";
import { assembleSlices, decodeSlice, type NodeStatus, sliceMissing, sliceUri, type WorkflowStatus } from "@flyte-ts/workflow-crd";

type Statuses = Readonly<Record<string, NodeStatus>>;

/**
 * The nodes of a resource's status, from the blob store where they stand there.
 *
 * @throws BlobError or WorkflowFormatError when they cannot be read.
 */
export async function nodeStatusesOf(blobs: Pick<BlobStore, "get">, status: WorkflowStatus | undefined): Promise<Statuses> {
  const root = status?.slices;
  if (root === undefined) return status?.nodeStatus ?? {};
  const slices = [];
  // One at a time: nobody waits for this, and a slice is small beside all of them.
  for (const [key, name] of Object.entries(root.names)) {
    const uri = sliceUri(root.prefix, name);
    const bytes = await blobs.get(uri);
    if (bytes === undefined) throw sliceMissing(key, uri);
    slices.push({ key, name, entries: decodeSlice(bytes, key) });
  }
  return assembleSlices(slices);
}

/** Phases that a status tells, by the ids that nodes have in events. */
export function toldPhases(nodes: Statuses): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  walk(nodes, undefined, told);
  return told;
}

interface Parent {
  readonly uniqueId: string;
  readonly attempt: number;
}

function walk(nodes: Statuses, parent: Parent | undefined, told: Map<string, number>): void {
  for (const [nodeId, node] of Object.entries(nodes)) {
    const uniqueId = nodeUniqueId({ parent: armOf(nodes, node, parent), nodeId });
    told.set(uniqueId, node.phase ?? 0);
    if (node.subNodeStatus !== undefined) walk(node.subNodeStatus, { uniqueId, attempt: node.attempts ?? 0 }, told);
  }
}

/** Arms of a branch stand beside it and name it; a branch in an arm leads on to the next. */
function armOf(nodes: Statuses, node: NodeStatus, parent: Parent | undefined): Parent | undefined {
  const branches: [string, NodeStatus][] = [];
  for (let at = node; at.parentNode !== undefined && branches.length < 100; ) {
    const branch = Object.hasOwn(nodes, at.parentNode) ? nodes[at.parentNode] : undefined;
    if (branch === undefined) break;
    branches.push([at.parentNode, branch]);
    at = branch;
  }
  return branches.reduceRight<Parent | undefined>(
    (outer, [nodeId, branch]) => ({ uniqueId: nodeUniqueId({ parent: outer, nodeId }), attempt: branch.attempts ?? 0 }),
    parent,
  );
}
