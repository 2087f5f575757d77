import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { GetErrorGroupsResponseJson } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import type { UseQueryResult } from "@tanstack/react-query";
import { Empty, ErrorPanel } from "../../control/error-panel.js";
import { Split } from "../../control/split.js";
import type { ExecutionSearch } from "../../route/execution-search.js";
import { ErrorDetail } from "./error-detail.js";
import { errorGroups } from "./error-groups.js";
import { ErrorList } from "./error-list.js";

interface ErrorsProps {
  readonly execution: ExecutionJson;
  readonly errors: UseQueryResult<GetErrorGroupsResponseJson>;
  readonly search: ExecutionSearch;
  onChange(next: Partial<ExecutionSearch>): void;
}

/** Errors of an execution: kinds of error, nodes of each, and the message in full. */
export function Errors({ execution, errors, search, onChange }: ErrorsProps) {
  if (errors.isError && errors.data === undefined)
    return <ErrorPanel title="The errors cannot be read" error={errors.error} onRetry={() => void errors.refetch()} />;
  if (errors.data === undefined) return null;
  const groups = errorGroups(errors.data, execution);
  const group =
    groups.find(({ id }) => id === search.error) ??
    groups.find(({ failures }) => failures.some(({ node }) => node === search.node)) ??
    groups[0];
  const failure = group?.failures.find(({ node }) => node === search.node) ?? group?.failures[0];
  if (group === undefined || failure === undefined) return <Empty title="No error is recorded" />;
  return (
    <Split
      side={
        <ErrorList
          groups={groups}
          isTruncated={errors.data.truncated === true}
          group={group}
          failure={failure}
          onGroup={({ id }) => onChange({ error: id, node: "", attempt: "", item: "" })}
          onFailure={({ node = "" }) => onChange({ error: group.id, node, attempt: "", item: "" })}
        />
      }
    >
      <ErrorDetail group={group} failure={failure} executionKey={execution.id ?? {}} search={search} onChange={onChange} />
    </Split>
  );
}
