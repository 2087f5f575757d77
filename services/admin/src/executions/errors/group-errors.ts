import { create, fromBinary } from "@bufbuild/protobuf";
import { type ExecutionError, ExecutionErrorSchema } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import {
  type ErrorGroup,
  ErrorGroupSchema,
  FailedNodeSchema,
  type GetErrorGroupsResponse,
  GetErrorGroupsResponseSchema,
} from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import { timestampOf } from "@flyte-ts/execution-state";
import type { Queryable } from "@flyte-ts/postgres";
import { truncateUtf8 } from "@flyte-ts/rpc";
import { errorPattern } from "../../platform/index.js";
import { inferredEndError } from "../model/inferred-end-error.js";
import { type FailedNodePosition, type FailedNodeRow, findFailedNodes } from "../store/node/failed-nodes.js";

const PAGE = 500;
/** Limits of one answer: failed nodes that are read, and bytes of their errors. */
const MAX_NODES = 5_000;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_GROUPS = 50;
const MAX_NODES_OF_GROUP = 100;
const MESSAGE_BYTES = 16 * 1024;

/** Groups the failed nodes of an execution by code and pattern of the message. */
export async function groupErrors(db: Queryable, executionId: bigint): Promise<GetErrorGroupsResponse> {
  const groups = new Map<string, ErrorGroup>();
  let [nodes, bytes, isTruncated] = [0, 0, false];
  let after: FailedNodePosition = { failedNs: -1n, id: 0n };
  for (;;) {
    const rows = await findFailedNodes(db, executionId, { after, limit: PAGE });
    for (const row of rows) {
      add(groups, row);
      bytes += row.error?.length ?? 0;
    }
    nodes += rows.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < PAGE) break;
    after = { failedNs: last.failed_ns, id: last.id };
    isTruncated = nodes >= MAX_NODES || bytes >= MAX_BYTES;
    if (isTruncated) break;
  }
  const sorted = [...groups.values()].sort((one, other) => other.count - one.count);
  return create(GetErrorGroupsResponseSchema, {
    groups: sorted.slice(0, MAX_GROUPS),
    truncated: isTruncated || sorted.length > MAX_GROUPS,
  });
}

function add(groups: Map<string, ErrorGroup>, row: FailedNodeRow): void {
  const { code, kind, message } = errorOf(row);
  const key = `${code}\n${kind}\n${errorPattern(message)}`;
  let group = groups.get(key);
  if (group === undefined) {
    group = create(ErrorGroupSchema, { code, kind, message: truncateUtf8(message, MESSAGE_BYTES) });
    groups.set(key, group);
  }
  group.count++;
  if (group.nodes.length < MAX_NODES_OF_GROUP)
    group.nodes.push(create(FailedNodeSchema, { id: row.node_id, failedAt: timestampOf(row.failed_ns), task: row.task ?? "" }));
}

function errorOf({ error, settled }: FailedNodeRow): ExecutionError {
  if (error !== null) return fromBinary(ExecutionErrorSchema, error);
  return inferredEndError(settled ?? "");
}
