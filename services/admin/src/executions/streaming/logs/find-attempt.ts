import { fromBinary } from "@bufbuild/protobuf";
import { TaskExecutionEventSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import { isTerminalTaskEvent } from "@flyte-ts/domain/phase";
import type { Queryable } from "@flyte-ts/postgres";
import { taskPhaseOf } from "../../model/phase-name.js";
import { describeNode, type NodeId } from "../../model/identifier.js";
import { type ArchivedLog, archivedLogs } from "./archived-log.js";
import { findLoggedAttempt, listAttemptNumbers, loadAttemptEvents } from "../../store/attempt/find.js";

/** A task attempt whose log is requested. */
export interface LoggedAttempt {
  readonly cluster: string;
  readonly attempt: number;
  /** Name of its pod; undefined until an event has reported it. */
  readonly pod: string | undefined;
  /** Name of the attempt, which a warm pod does not have. */
  readonly generatedName: string;
  readonly ended: boolean;
  /** Copies that remain after the deletion of the pod. */
  readonly archived: readonly ArchivedLog[];
}

export interface RequestedAttempt {
  /** Undefined: the latest. */
  readonly attempt: number | undefined;
  /** Item of an array node. */
  readonly item: number | undefined;
}

/** Finds the attempt of a node, or its item, in the reported events; undefined without one. */
export async function findAttempt(
  db: Queryable,
  { executionId, nodeId }: NodeId,
  requested: RequestedAttempt,
): Promise<LoggedAttempt | undefined> {
  const task = await findLoggedAttempt(db, executionId, { nodeId, attempt: requested.attempt });
  if (task === undefined) return undefined;
  const messages = (await loadAttemptEvents(db, task.id)).map((event) => fromBinary(TaskExecutionEventSchema, event));
  const reported = messages.flatMap(({ metadata }) => metadata ?? []);
  const resources = reported.flatMap(({ externalResources }) => externalResources);
  const items = resources.filter(({ index, externalId }) => index === requested.item && externalId !== "");
  // Attempts of an item are numbered separately from those of the array.
  const item = items.toSorted((a, b) => b.retryAttempt - a.retryAttempt)[0];
  // A warm pod has another name than its attempt.
  const named = messages.findLast(({ logContext }) => (logContext?.primaryPodName ?? "") !== "")?.logContext?.primaryPodName;
  const generated = reported.findLast(({ generatedName }) => generatedName !== "")?.generatedName;
  const name = requested.item === undefined ? (named ?? generated) : item?.externalId;
  const ended = isTerminalTaskEvent(taskPhaseOf(task.phase)) || (item !== undefined && isTerminalTaskEvent(item.phase));
  const logs = requested.item === undefined ? messages.flatMap((message) => message.logs) : (item?.logs ?? []);
  return {
    cluster: task.cluster,
    attempt: Number(task.retry_attempt),
    pod: name,
    generatedName: generated ?? "",
    ended,
    archived: archivedLogs(logs),
  };
}

/** Explains in one line why a node, or its item, has no log. */
export async function noLogReason(db: Queryable, id: NodeId, { attempt, item }: RequestedAttempt): Promise<string> {
  const attempts = await listAttemptNumbers(db, id.executionId, id.nodeId);
  const node = describeNode(id);
  if (attempts.length === 0) return `${node} has no log: it has no task attempts; only nodes that run a task have them`;
  const numbers = attempts.join(", ");
  if (attempt !== undefined && !attempts.includes(attempt)) return `${node} has no attempt ${attempt}; its attempts are ${numbers}`;
  const chosen = `attempt ${attempt ?? attempts.at(-1)} of ${node}`;
  if (item !== undefined) return `${chosen} has no item ${item} with a log; its attempts are ${numbers}`;
  return `${chosen} has no log: no pod was reported for it; its attempts are ${numbers}`;
}
