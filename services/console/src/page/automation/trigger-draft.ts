import type { TriggerJson } from "@flyte-ts/idl/flytets/admin/v1/trigger_pb";
import type { Scope } from "../../api/scope.js";
import { MAX_ACTIVE_PLANS } from "../../api/list-pages.js";

/** A trigger as its form has it. */
export interface TriggerDraft {
  readonly name: string;
  readonly launchPlan: string;
  readonly source: "execution" | "standard" | "github";
  /** Empty: executions of any workflow. */
  readonly workflow: string;
  readonly onFailure: boolean;
  /** JSON of Trigger.inputs; empty for none. */
  readonly inputs: string;
}

export const EMPTY_DRAFT: TriggerDraft = { name: "", launchPlan: "", source: "execution", workflow: "", onFailure: false, inputs: "" };

export const SOURCES = [
  { id: "execution", title: "An execution ends" },
  { id: "standard", title: "A webhook arrives" },
  { id: "github", title: "GitHub sends" },
] as const;

const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const TERMINAL = ["SUCCEEDED", "FAILED", "ABORTED", "TIMED_OUT"] as const;

/**
 * Returns what is missing or wrong; undefined when admin can check the rest.
 *
 * @param active names of active launch plans, all of them unless they are MAX_ACTIVE_PLANS
 */
export function triggerProblem({ name, launchPlan, inputs }: TriggerDraft, active: readonly string[]): string | undefined {
  if (!NAME.test(name)) return "Give it a name of lower-case letters, digits and dashes, at most 63";
  if (launchPlan === "") return "Choose the launch plan that it starts";
  const knowsAll = active.length > 0 && active.length < MAX_ACTIVE_PLANS;
  if (knowsAll && !active.includes(launchPlan)) return `Launch plan ${launchPlan} has no active version: activate one first`;
  return readInputs(inputs) === undefined ? 'The inputs must be a JSON object such as {"rows": {"output": "o0"}}' : undefined;
}

export function triggerOf(
  { project, domain }: Scope,
  { name, launchPlan, source, workflow, onFailure, inputs }: TriggerDraft,
): TriggerJson {
  return {
    id: { project, domain, name },
    launchPlan: { resourceType: "LAUNCH_PLAN", project, domain, name: launchPlan },
    inputs: readInputs(inputs) ?? {},
    ...(source === "execution"
      ? { execution: { workflow, phases: onFailure ? [...TERMINAL] : ["SUCCEEDED"] } }
      : { webhook: { scheme: source === "github" ? "WEBHOOK_SCHEME_GITHUB" : "WEBHOOK_SCHEME_STANDARD" } }),
  };
}

function readInputs(text: string): TriggerJson["inputs"] | undefined {
  if (text.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as NonNullable<TriggerJson["inputs"]>;
  } catch {
    // The form says so.
  }
  return undefined;
}
