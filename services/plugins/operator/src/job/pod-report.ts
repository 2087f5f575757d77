import { create } from "@bufbuild/protobuf";
import { type TaskLog, TaskExecution_Phase as Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { type ExternalResourceInfo, ExternalResourceInfoSchema } from "@flyte-ts/idl/flyteidl/event/event_pb";
import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import { derivePodState, type GracePeriods, type Pod } from "@flyte-ts/pod-task";
import { type LogLink, logLinks } from "@flyte-ts/pod-task/logs";
import type { Operator } from "../operator.js";

/** Pods that an event names; it stays small enough for the bus. */
const MAX_PODS = 100;

export interface PodReport {
  readonly logs: TaskLog[];
  readonly externalResources: ExternalResourceInfo[];
}

export interface PodReportOptions {
  readonly operator: Operator;
  readonly request: TaskRequest;
  readonly links: readonly LogLink[];
  readonly gracePeriods: GracePeriods;
  readonly now: Date;
}

/** Lists the first pods of a job in the order of their creation, with links to their logs. */
export function reportPods(pods: readonly Pod[], options: PodReportOptions): PodReport {
  const shown = pods.toSorted(byCreation).slice(0, MAX_PODS);
  return {
    logs: shown.flatMap((pod) => podLinks(pod, options)),
    externalResources: shown.map((pod, index) =>
      create(ExternalResourceInfoSchema, { externalId: pod.metadata.name, index, phase: phaseOf(pod, options) }),
    ),
  };
}

/** A pod that has not started has no log. */
function podLinks(pod: Pod, { operator, request, links, now }: PodReportOptions): TaskLog[] {
  const all = logLinks(links, { pod, request, now, suffix: ` (${operator.roleOf(pod)})` });
  const started = pod.status?.phase !== undefined && pod.status.phase !== "Pending";
  return started ? all : all.filter(({ ShowWhilePending }) => ShowWhilePending);
}

function phaseOf(pod: Pod, { gracePeriods, now }: PodReportOptions): Phase {
  const state = derivePodState(pod, { gracePeriods, now });
  switch (state.kind) {
    case "waiting":
      return Phase.QUEUED;
    case "progress":
      return Phase[state.phase];
    case "succeeded":
      return Phase.SUCCEEDED;
    case "failed":
      return Phase.FAILED;
  }
}

function byCreation({ metadata: a }: Pod, { metadata: b }: Pod): number {
  const [first = "", second = ""] = [a.creationTimestamp, b.creationTimestamp];
  if (first !== second) return first < second ? -1 : 1;
  return a.name < b.name ? -1 : 1;
}
