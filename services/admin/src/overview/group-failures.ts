import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type FailureGroup, FailureGroupSchema } from "@flyte-ts/idl/flytets/admin/v1/overview_pb";
import { truncateUtf8 } from "@flyte-ts/rpc";
import { errorPattern } from "../platform/index.js";
import { readErrorPrefix } from "./read-error-prefix.js";
import type { FailureRow } from "./store/failures.js";

const MAX_GROUPS = 20;
const MAX_EXECUTIONS = 10;
const MESSAGE_BYTES = 4_096;

/** Groups failed executions, newest first, by workflow, code and pattern of the message. */
export function groupFailures(rows: readonly FailureRow[]): FailureGroup[] {
  const groups = new Map<string, FailureGroup>();
  for (const row of rows) {
    const { code, kind, message } = readErrorPrefix(row.error ?? new Uint8Array());
    const key = [row.workflow_name, code, kind, errorPattern(message)].join("\n");
    let group = groups.get(key);
    if (group === undefined) {
      const lastAt = timestampFromDate(row.created_at);
      group = create(FailureGroupSchema, {
        workflow: row.workflow_name,
        code,
        kind,
        message: truncateUtf8(message, MESSAGE_BYTES),
        lastAt,
      });
      groups.set(key, group);
    }
    group.count++;
    if (group.executions.length < MAX_EXECUTIONS) group.executions.push(row.execution_name);
  }
  return [...groups.values()].slice(0, MAX_GROUPS);
}
