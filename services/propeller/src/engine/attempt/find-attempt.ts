import { timestampMs } from "@bufbuild/protobuf/wkt";
import { NodePhase } from "@flyte-ts/domain/phase";
import type { TaskEvent } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { RuntimeNode, Scope } from "../graph/runtime.js";

/** The attempt that a task event reports on. */
export interface ReportedAttempt {
  readonly node: RuntimeNode;
  /** The attempt runs, and its end is expected. */
  readonly isCurrent: boolean;
  /** Time at which it ended, ms; undefined while it runs, or if it never existed. */
  readonly endedAt: number | undefined;
}

/** Finds the attempt; undefined when no node of the run is on the event's path. */
export function findAttempt(root: Scope, { nodePath, event }: TaskEvent): ReportedAttempt | undefined {
  const found = event === undefined ? undefined : findNode(root, nodePath);
  if (event === undefined || found === undefined) return undefined;
  const { node, exact } = found;
  if (!exact || event.parentNodeExecutionId?.nodeId !== node.uniqueId) return { node, isCurrent: false, endedAt: node.lifecycle.endedAt };
  const isCurrent = event.retryAttempt === node.attempt && node.currentAttempt.request !== undefined && !node.ended;
  return { node, isCurrent, endedAt: endedSince(node, event.retryAttempt) };
}

/** Finds the node on a path or, where the graph below it is gone, its last existing ancestor. */
function findNode(root: Scope, path: string): { readonly node: RuntimeNode; readonly exact: boolean } | undefined {
  // Most nodes are in the graph of the execution itself.
  const top = root.nodes.get(path);
  if (top !== undefined) return { node: top, exact: true };
  let scope: Scope | undefined = root;
  let node: RuntimeNode | undefined;
  for (const id of path.split("/")) {
    if (scope === undefined) return node === undefined ? undefined : { node, exact: false };
    node = scope.nodes.get(id);
    if (node === undefined) return undefined;
    scope = node.childScope;
  }
  return node === undefined ? undefined : { node, exact: true };
}

/** Time at which an attempt of the node ended; undefined while it runs, or if it never existed. */
function endedSince(node: RuntimeNode, attempt: number): number | undefined {
  const { terminalReportedAt, supersededAt } = node.currentAttempt;
  if (node.ended) return terminalReportedAt ?? node.lifecycle.endedAt;
  if (!node.started) return undefined;
  return attempt < node.attempt || node.status.phase === NodePhase.RetryableFailure ? (terminalReportedAt ?? supersededAt) : undefined;
}

/** Time of the report, ms, by the plugin service's clock. */
export function reportedAtMs({ event }: TaskEvent): number {
  return event?.reportedAt === undefined ? 0 : timestampMs(event.reportedAt);
}
