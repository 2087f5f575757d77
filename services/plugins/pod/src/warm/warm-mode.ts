import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Pod } from "@flyte-ts/pod-task";
import { WARM_WISH_ANNOTATION, WARM_WISH_VARIABLE } from "@flyte-ts/pod-task/warm";
import type { WarmPodSettings } from "./settings.js";

/**
 * True when the attempt of this pod may take a warm one: its author asks for it, or a rule says so.
 */
export function wantsWarmPod(pod: Pod, request: TaskRequest, { rules }: Pick<WarmPodSettings, "rules">): boolean {
  const wish = wishOf(pod);
  return wish ?? rules.some((rule) => matches(rule, pod, request));
}

/** The author's wish; a value other than `true` and `false` is none. */
function wishOf({ metadata, spec }: Pod): boolean | undefined {
  const variable = spec.containers[0]?.env?.findLast(({ name }) => name === WARM_WISH_VARIABLE);
  const text = variable?.value ?? metadata.annotations?.[WARM_WISH_ANNOTATION];
  return text === "true" || text === "false" ? text === "true" : undefined;
}

function matches(rule: WarmPodSettings["rules"][number], pod: Pod, request: TaskRequest): boolean {
  const { project, domain } = request.id?.nodeExecutionId?.executionId ?? {};
  const { labels = {} } = pod.metadata;
  const image = pod.spec.containers[0]?.image ?? "";
  return (
    isOrAny(rule.project, project) &&
    isOrAny(rule.domain, domain) &&
    isOrAny(rule.taskType, request.template?.type) &&
    image.startsWith(rule.imagePrefix ?? "") &&
    Object.entries(rule.labels).every(([name, value]) => labels[name] === value)
  );
}

function isOrAny(wanted: string | undefined, value: string | undefined): boolean {
  return wanted === undefined || wanted === value;
}
