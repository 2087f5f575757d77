import type { MessageInitShape } from "@bufbuild/protobuf";
import type { LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { AdminService } from "@flyte-ts/idl/flyteidl/service/admin_pb";
import type { ServiceClient } from "@flyte-ts/rpc";

export const scope = { project: "flytesnacks", domain: "development" };

/** Identifier of a test definition. */
export const id = (resourceType: ResourceType, name: string) => ({ resourceType, ...scope, name, version: "v1" });

export const integer = (value: bigint) => ({
  value: {
    case: "scalar" as const,
    value: { value: { case: "primitive" as const, value: { value: { case: "integer" as const, value } } } },
  },
});

/** Registers task `t` and workflow `w`, with an integer input `x` and the single node `n0`. */
export async function registerWorkflow(admin: ServiceClient<typeof AdminService>): Promise<void> {
  await admin.createTask({
    id: id(ResourceType.TASK, "t"),
    spec: {
      template: {
        type: "python-task",
        metadata: {},
        interface: { inputs: {}, outputs: {} },
        target: { case: "container", value: { image: "i", args: ["a"] } },
      },
    },
  });
  const reference = {
    case: "taskNode" as const,
    value: { reference: { case: "referenceId" as const, value: id(ResourceType.TASK, "t") } },
  };
  await admin.createWorkflow({
    id: id(ResourceType.WORKFLOW, "w"),
    spec: {
      template: {
        id: id(ResourceType.WORKFLOW, "w"),
        metadata: {},
        metadataDefaults: {},
        interface: { inputs: { variables: { x: { type: { type: { case: "simple", value: SimpleType.INTEGER } } } } }, outputs: {} },
        nodes: [{ id: "n0", metadata: { name: "n0" }, target: reference }],
      },
    },
  });
}

/** Registers a launch plan of workflow `w` without fixed inputs. */
export async function registerLaunchPlan(
  admin: ServiceClient<typeof AdminService>,
  name: string,
  spec: Omit<MessageInitShape<typeof LaunchPlanSpecSchema>, "$typeName"> = {},
): Promise<void> {
  await admin.createLaunchPlan({
    id: id(ResourceType.LAUNCH_PLAN, name),
    spec: { workflowId: id(ResourceType.WORKFLOW, "w"), entityMetadata: {}, ...spec },
  });
}
