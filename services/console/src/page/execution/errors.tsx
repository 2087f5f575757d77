import { isGiven } from "../../format/given.js";
import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { NodeExecutionJson } from "@flyte-ts/idl/flyteidl/admin/node_execution_pb";
import type { UseQueryResult } from "@tanstack/react-query";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { Split } from "../../control/split.js";
import { readTimeMs } from "../../format/time.js";
import type { ExecutionSearch } from "../../route/execution-search.js";
import { ErrorDetail } from "./error-detail.js";
import { ErrorList } from "./error-list.js";
import { completeMessage, type Failure, groupFailures } from "./error-groups.js";

interface ErrorsProps {
  readonly execution: ExecutionJson;
  readonly nodes: UseQueryResult<readonly NodeExecutionJson[]>;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** Errors of an execution: kinds of error, nodes of each, and the message in full. */
export function Errors({ execution, nodes, search, onChange }: ErrorsProps) {
  if (nodes.isError && nodes.data === undefined)
    return <ErrorPanel title="The failed nodes cannot be listed" error={nodes.error} onRetry={() => void nodes.refetch()} />;
  const failures = failuresOf(execution, nodes.data ?? []);
  const groups = groupFailures(failures);
  const group =
    groups.find(({ id }) => id === search.error) ??
    groups.find(({ failures: members }) => members.some(({ node }) => node === search.node)) ??
    groups[0];
  const failure = group?.failures.find(({ node }) => node === search.node) ?? group?.failures[0];
  if (group === undefined || failure === undefined) return <Empty title="No error is recorded" />;
  return (
    <Split
      side={
        <ErrorList
          groups={groups}
          group={group}
          failure={failure}
          onGroup={({ id }) => onChange({ error: id, node: "", attempt: "", item: "" })}
          onFailure={({ node = "" }) => onChange({ error: group.id, node, attempt: "", item: "" })}
        />
      }
    >
      <ErrorDetail failure={failure} executionKey={execution.id ?? {}} search={search} onChange={onChange} />
    </Split>
  );
}

/**
 * Lists the failures of nodes that ran tasks. A node that contains others repeats their error, so
 * it is left out where they are there; the execution's own error counts where no node has one.
 */
export function failuresOf(execution: ExecutionJson, nodes: readonly NodeExecutionJson[]): readonly Failure[] {
  const failed = nodes.filter(({ closure }) => closure?.error !== undefined && closure.error !== null);
  const leaves = failed.filter(({ metadata }) => metadata?.isParentNode !== true || metadata.isArray === true);
  const shown = leaves.length > 0 ? leaves : failed;
  const own = execution.closure?.error;
  if (shown.length > 0)
    return shown.map(({ id, closure }) => ({
      node: id?.nodeId,
      code: closure?.error?.code ?? "",
      kind: closure?.error?.kind ?? "UNKNOWN",
      endedMs: readTimeMs(closure?.updatedAt),
      ...completeMessage(closure?.error?.message ?? "", own?.message ?? ""),
    }));
  if (!isGiven(own)) return [];
  const { code = "", kind = "UNKNOWN", message = "" } = own;
  return [{ node: undefined, code, kind, message, isComplete: true, endedMs: readTimeMs(execution.closure?.updatedAt) }];
}
