// Types
export { t, type TypeWords } from "./type/t.js";
export type { AnyType, FlyteErrorValue, Given, InOf, JsonValue, OutOf, Values } from "./type/type.js";
export type { Duration, DurationText } from "./type/duration.js";
export { FlyteOpaque } from "./type/opaque.js";
export type { FlyteDataset, FlyteDirectory, FlyteFile } from "./file/file.js";

// Tasks
export { connectorTask, container, dynamic, eager, task } from "./entity/task.js";
export { type Context, currentContext } from "./entity/context.js";
export {
  ExecutionFailed,
  type ExecutionFailure,
  GraphError,
  IgnoreOutputs,
  RecoverableError,
  SystemError,
  ValueError,
} from "./entity/errors.js";
export type { NodeOptions, TaskConfig } from "./entity/settings.js";

// Workflows
export { launchPlan, reference, workflow } from "./entity/workflow.js";
export { WorkflowBuilder } from "./entity/builder.js";
export { each } from "./graph/each.js";
export { and, type Condition, eq, ge, gt, isTrue, le, lt, ne, or } from "./branch/condition.js";
export { when } from "./branch/branch.js";
export { approve, signal, sleep } from "./graph/gate.js";
export { attr, chain } from "./graph/order.js";
export type { AnyEntity, Entity, LaunchPlan, RemoteTask, Task, Workflow } from "./entity/entity.js";
export type { Ref, Reference } from "./graph/reference-type.js";
