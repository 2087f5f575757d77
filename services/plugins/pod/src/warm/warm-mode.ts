import type { TaskRequest } from "@flyte-ts/idl/flytets/plugin/v1/plugin_pb";
import type { Pod } from "@flyte-ts/pod-task";
import { WARM_WISH_ANNOTATION, WARM_WISH_VARIABLE } from "@flyte-ts/pod-task/warm";
import type { WarmPodSettings } from "./settings.js";

export type WarmMode = WarmPodSettings["rules"][number]["mode"];

/**
 * The mode in which the attempt of this pod may take a warm one: as its author asks, or as the
 * first rule that matches says. Undefined when it starts cold.
 */
export function warmModeOf(pod: Pod, request: TaskRequest, { rules }: Pick<WarmPodSettings, "rules">): WarmMode | undefined {
  const wish = wishOf(pod);
  const rule = rules.find((each) => matches(each, pod, request));
  if (wish === "true") return rule?.mode ?? "prewarmed";
  return wish === undefined ? rule?.mode : WISHED_MODES[wish];
}

const WISHED_MODES = { false: undefined, prewarmed: "prewarmed", reused: "reused" } as const;

/** The author's wish; another value is none. */
function wishOf({ metadata, spec }: Pod): keyof typeof WISHED_MODES | "true" | undefined {
  const variable = spec.containers[0]?.env?.findLast(({ name }) => name === WARM_WISH_VARIABLE);
  const text = variable?.value ?? metadata.annotations?.[WARM_WISH_ANNOTATION];
  return text === "true" || text === "false" || text === "prewarmed" || text === "reused" ? text : undefined;
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
