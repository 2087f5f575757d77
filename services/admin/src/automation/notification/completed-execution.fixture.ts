import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { type Notification, NotificationSchema } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { CompletedExecution } from "../model/completed-execution.js";

export function notification(type: "email" | "slack" | "pagerDuty", recipientsEmail: string[], more: object = {}): Notification {
  const init = { type: { case: type, value: { recipientsEmail, ...more } }, phases: [WorkflowExecution_Phase.FAILED] };
  return create(NotificationSchema, init as MessageInitShape<typeof NotificationSchema>);
}

/** A failed execution. */
export function endedExecution(changes: Partial<CompletedExecution> = {}): CompletedExecution {
  const id = (resourceType: ResourceType, name: string) =>
    create(IdentifierSchema, { resourceType, project: "p", domain: "d", name, version: "v" });
  return {
    rowId: 1n,
    project: "p",
    domain: "d",
    name: "x",
    phase: WorkflowExecution_Phase.FAILED,
    workflow: id(ResourceType.WORKFLOW, "w"),
    launched: id(ResourceType.LAUNCH_PLAN, "lp"),
    launchPlanName: "lp",
    workflowName: "w",
    principal: "ann",
    labels: { team: "a" },
    error: { kind: "USER", code: "Oops", message: "it <b>broke</b> & {{ name }}" },
    abort: undefined,
    acceptedNs: 1_700_000_000_000_000_000n,
    startedNs: 1_700_000_001_000_000_000n,
    endedNs: 1_700_000_002_500_000_000n,
    notifications: [],
    ...changes,
  };
}
