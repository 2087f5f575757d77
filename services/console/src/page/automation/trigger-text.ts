import type { TriggerJson } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import { isGiven } from "../../format/given.js";

/** Says in words when a trigger fires. */
export function sourceText({ execution, webhook }: TriggerJson): string {
  if (isGiven(webhook)) return webhook.scheme === "WEBHOOK_SCHEME_GITHUB" ? "a webhook of GitHub arrives" : "a signed webhook arrives";
  if (!isGiven(execution)) return "";
  const { launchPlan = "", workflow = "", project = "", domain = "", phases = [] } = execution;
  const of = launchPlan === "" ? workflow : launchPlan;
  const place = project === "" && domain === "" ? "" : ` in ${[project, domain].filter((part) => part !== "").join("/")}`;
  const ends = (phases.length === 0 ? ["SUCCEEDED"] : phases).map((phase) => phase.toLowerCase().replace("_", " ")).join(", ");
  return `${of === "" ? "any execution" : of}${place} ends as ${ends}`;
}

export function isPaused({ state }: TriggerJson): boolean {
  return state === "TRIGGER_STATE_PAUSED";
}
