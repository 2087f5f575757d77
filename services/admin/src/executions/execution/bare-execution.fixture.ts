import type { ExecutionName } from "../model/identifier.js";
import type { NewExecution } from "../store/execution/insert.js";

/** Fields by which admin recognizes the resource of a bare execution. */
export function bareResourceIdentity({ project, domain, name }: ExecutionName) {
  return { metadata: { name }, executionId: { project, domain, name }, acceptedAt: "1970-01-01T00:00:00Z" };
}

/** Minimal row of an execution with this name, in project `p` and domain `d`. */
export function bareExecution(name: string): NewExecution {
  const empty = new Uint8Array();
  return {
    project: "p",
    domain: "d",
    name,
    launchPlanId: undefined,
    launchPlanName: "l",
    workflowId: 1n,
    workflowName: "w",
    taskId: undefined,
    launchEntity: "launch_plan",
    mode: 0,
    principal: "",
    cluster: "",
    reassignable: false,
    sourceExecutionId: undefined,
    parent: undefined,
    spec: empty,
    inputs: empty,
    userInputs: empty,
    inputsUri: "",
    userInputsUri: "",
    closure: empty,
    launchSettings: "{}",
    acceptedAt: 1n,
    failure: undefined,
    labels: {},
    tags: [],
  };
}
