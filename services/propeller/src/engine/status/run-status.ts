import type { ParsedWorkflow } from "@flyte-ts/workflow-crd";
import type { NodeStatus, WorkflowStatus } from "@flyte-ts/workflow-crd/status";
import type { RuntimeNode, Scope } from "../graph/runtime.js";
import { collectStatusPatch, type PatchContext, restorePersisted, type StatusChanges } from "./resource-status.js";
import type { StatusSlices } from "./status-slices.js";

/** Fields of the workflow's own status, without its nodes. */
export type WorkflowOwnStatus = Omit<WorkflowStatus, "nodeStatus" | "slices" | "nodeCounts">;

/** Status of the workflow and its nodes, and the part of it that the resource holds. */
export class RunStatus {
  workflow: WorkflowOwnStatus;
  /** Counts observations that changed the status. */
  revision = 0;
  /** Workflow status in the resource, as of the last taken patch. */
  persistedWorkflow: WorkflowOwnStatus;
  /** Revision of the last taken patch. */
  patchedRevision = 0;
  /**
   * Statuses of the nodes when they are too large for the resource; undefined while the resource
   * holds them.
   */
  slices: StatusSlices | undefined;
  /** Approximate upper bound of the statuses in the resource, bytes. */
  inlineBytes = 0;
  /** Nodes whose statuses have changed since the last patch. */
  readonly dirtyNodes = new Set<RuntimeNode>();
  #changed = false;

  constructor(status: WorkflowStatus) {
    const { nodeStatus: _n, slices: _s, nodeCounts: _c, ...own } = status;
    this.workflow = own;
    this.persistedWorkflow = own;
  }

  setWorkflow(status: WorkflowOwnStatus): void {
    this.workflow = status;
    this.#changed = true;
  }

  setNode(node: RuntimeNode, status: NodeStatus): void {
    node.setStatus(status);
    this.dirtyNodes.add(node);
    this.#changed = true;
  }

  /** Sets the status that the resource holds. */
  restoreNode(node: RuntimeNode, status: NodeStatus): void {
    node.setStatus(status);
    node.setPersistedStatus(status);
  }

  /** Sets the restored graph whose statuses the resource holds below the node. */
  restoreChildScope(node: RuntimeNode, childScope: Scope): void {
    node.changeGraph().setPersisted(node.status.subNodeStatus === undefined ? undefined : childScope);
  }

  /**
   * Removes the statuses of the graph below the node from the node's own status, without a change
   * of the resource, because the graph is entered again.
   */
  takeChildStatuses(node: RuntimeNode): NodeStatus["subNodeStatus"] {
    const { subNodeStatus, ...own } = node.status;
    node.setStatus(own);
    const { subNodeStatus: _, ...persisted } = node.persistedStatus;
    node.setPersistedStatus(persisted);
    return subNodeStatus;
  }

  /** Writes no change of the nodes that were discarded. */
  dropChanges(isDiscarded: (node: RuntimeNode) => boolean): void {
    for (const node of this.dirtyNodes) if (isDiscarded(node)) this.dirtyNodes.delete(node);
  }

  /** Restores the state of the node statuses in the resource. */
  restorePersisted(workflow: ParsedWorkflow, context: PatchContext): void {
    restorePersisted(this, workflow, context);
  }

  /**
   * Takes the changes since the last call. `isNew`: the revision has increased since; changes that
   * cancel each other make no patch, but effects may wait for their revision.
   */
  takeChanges(context: PatchContext): { readonly changes: StatusChanges | undefined; readonly isNew: boolean } {
    const changes = collectStatusPatch(this, context);
    const isNew = changes !== undefined || this.revision > this.patchedRevision;
    this.patchedRevision = this.revision;
    return { changes, isNew };
  }

  /** Ends an observation; returns the revision of the status after it. */
  endObservation(): number {
    if (this.#changed) this.revision++;
    this.#changed = false;
    return this.revision;
  }
}
