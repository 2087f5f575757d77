import type { RetentionPolicyJson } from "@flyte-ts/idl/flytets/admin/v1/retention_pb";
import { formatAge, readDurationMs } from "../../format/duration.js";

const DAY_SECONDS = 86_400;

/** Describes how long a policy keeps executions. */
export function keepText({ keep }: RetentionPolicyJson = {}): string {
  const ms = readDurationMs(keep);
  return ms === undefined ? "forever" : formatAge(ms);
}

/** Describes where a policy comes from. */
export function policyPlace(policy: RetentionPolicyJson | undefined, configured: boolean): string {
  if (configured) return "the configuration of admin (retention)";
  const { project = "", domain = "", workflow = "" } = policy ?? {};
  if (workflow !== "") return `workflow ${workflow}`;
  if (domain !== "") return `domain ${domain}`;
  return project === "" ? "all projects" : `project ${project}`;
}

/** Reads a number of days as a duration in its JSON form; undefined when it is none. */
export function daysToKeep(text: string): string | undefined {
  const days = Number(text);
  return /^\d+(\.\d+)?$/.test(text.trim()) && days > 0 ? `${Math.round(days * DAY_SECONDS)}s` : undefined;
}
