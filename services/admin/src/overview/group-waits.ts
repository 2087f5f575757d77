import { create } from "@bufbuild/protobuf";
import { type WaitGroup, WaitGroupSchema } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { timestampOf } from "@flyte-ts/execution-state";
import { errorPattern } from "../platform/index.js";
import type { WaitRow } from "./store/open-executions.js";

const MAX_GROUPS = 20;
const MAX_EXECUTIONS = 10;

/** Groups waiting executions, the longest wait first, by their reason without numbers and names. */
export function groupWaits(rows: readonly WaitRow[]): WaitGroup[] {
  const groups = Map.groupBy(rows, ({ notice }) => errorPattern(notice));
  return [...groups.values()]
    .flatMap(([first, ...others]) => {
      if (first === undefined) return [];
      const members = [first, ...others];
      const group = create(WaitGroupSchema, {
        reason: first.notice,
        count: members.length,
        executions: members.slice(0, MAX_EXECUTIONS).map(({ execution_name: name }) => name),
        ...(first.notice_ns !== null && { since: timestampOf(first.notice_ns) }),
      });
      return [group];
    })
    .sort((one, other) => other.count - one.count)
    .slice(0, MAX_GROUPS);
}
