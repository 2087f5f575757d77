import type { ExecutionJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { ErrorGroupJson, GetErrorGroupsResponseJson } from "@flyte-ts/idl/flytets/admin/v1/error_groups_pb";
import { errorTitle } from "../../format/error-title.js";
import { isGiven } from "../../format/given.js";
import { taskTitle } from "../../format/task-title.js";
import { readTimeMs } from "../../format/time.js";

/** Failure of one node, or of the execution itself. */
export interface Failure {
  /** Id of the node; undefined for the execution. */
  readonly node: string | undefined;
  readonly failedMs: number | undefined;
  /** Title of the node's task; empty for a node without attempts. */
  readonly task: string;
}

/** Failures that are alike. */
export interface ErrorGroup {
  /** Stays while the page is open; part of its address. */
  readonly id: string;
  readonly title: string;
  readonly code: string;
  /** Kind of the error: `USER`, `SYSTEM`. */
  readonly kind: string;
  /** Message of the first failure. */
  readonly message: string;
  /** Number of failures; more than `failures` has when there are many. */
  readonly count: number;
  readonly failures: readonly Failure[];
}

/** Groups of an execution's failed nodes; its own error where no node has one. */
export function errorGroups({ groups = [] }: GetErrorGroupsResponseJson, execution: ExecutionJson): readonly ErrorGroup[] {
  if (groups.length > 0) return groups.map(groupOf);
  const error = execution.closure?.error;
  if (!isGiven(error)) return [];
  const { code = "", kind = "UNKNOWN", message = "" } = error;
  const failures = [{ node: undefined, failedMs: readTimeMs(execution.closure?.updatedAt), task: "" }];
  return [{ id: "execution", title: errorTitle(message, code), code, kind, message, count: 1, failures }];
}

function groupOf({ code = "", kind = "UNKNOWN", message = "", count = 0, nodes = [] }: ErrorGroupJson): ErrorGroup {
  const failures = nodes.map(({ id, failedAt, task = "" }) => ({ node: id, failedMs: readTimeMs(failedAt), task: taskTitle(task) }));
  return { id: hashOf(`${code}\n${kind}\n${nodes[0]?.id ?? ""}`), title: errorTitle(message, code), code, kind, message, count, failures };
}

/** Short stable id of a text. */
function hashOf(text: string): string {
  let hash = 0;
  for (const character of text) hash = (Math.imul(hash, 31) + (character.codePointAt(0) ?? 0)) >>> 0;
  return hash.toString(36);
}
