import type { ExecutionCreateRequestJson } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Scope } from "../../api/scope.js";
import { withoutUnset } from "../../literal/convert/raw-literal.js";
import { fromLiteral } from "../../literal/convert/from-literal.js";
import { toLiteral } from "../../literal/convert/to-literal.js";
import type { FormValue, Problem } from "../../literal/form-value.js";
import type { LaunchState } from "./launch-state.js";
import { settingsSpec } from "./settings.js";
import type { LaunchInput, LaunchTarget } from "./target.js";

export interface BuiltRequest {
  readonly request: ExecutionCreateRequestJson;
  /** Literals of the inputs that are given, in the order of the form. */
  readonly inputs: readonly { readonly input: LaunchInput; readonly literal: LiteralJson }[];
  readonly problems: readonly Problem[];
}

/** Builds the call that starts an execution; inputs that break a rule are left out of it. */
export function buildRequest(scope: Scope, target: LaunchTarget, state: LaunchState, from: string): BuiltRequest {
  const problems: Problem[] = [];
  const inputs = target.inputs.flatMap((input) => {
    const value = state.values[input.name];
    if (value === undefined && !input.required) return [];
    if (isDefault(input, value)) return [];
    const literal = toLiteral(input.type, value, input.name, problems);
    return literal === undefined ? [] : [{ input, literal }];
  });
  const spec = settingsSpec(state.settings, state.kept, problems);
  const { project, domain } = scope;
  const request: ExecutionCreateRequestJson = {
    project,
    domain,
    ...(state.settings.name !== "" && { name: state.settings.name }),
    spec: {
      launchPlan: { resourceType: target.kind === "task" ? "TASK" : "LAUNCH_PLAN", ...target.id },
      metadata: from === "" ? {} : { referenceExecution: { project, domain, name: from } },
      ...spec,
    },
    inputs: { literals: Object.fromEntries(inputs.map(({ input, literal }) => [input.name, withoutUnset(literal)])) },
  };
  return { request, inputs, problems };
}

/** Reports whether a value is the default, which need not be sent. */
export function isDefault({ type, fallback }: LaunchInput, value: FormValue | undefined): boolean {
  if (fallback === undefined || value === undefined) return false;
  const zone = typeof value === "object" && value !== null && "zone" in value ? value.zone : "UTC";
  return JSON.stringify(fromLiteral(type, fallback, zone)) === JSON.stringify(value);
}
