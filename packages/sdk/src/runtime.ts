// For the runtime of containers and the command: entities, templates and values.

// Entities
export { type CollectedEntity, Collection, collectEntities, listReferences, type LoadedModule } from "./describe/collection.js";
export {
  callsEntities,
  type Definition,
  definitionOf,
  type EntityAddress,
  findDefinition,
  findName,
  type Interface,
  interfaceOf,
  type LaunchPlanDefinition,
  type ReferenceDefinition,
  shownName,
  type TaskDefinition,
  type WorkflowDefinition,
} from "./entity/definition.js";
export { originText, placeOf, type SourcePlace } from "./entity/origin.js";

// Registration
export { type Description, describeEntities, type LaunchPlanDescription } from "./describe/describe.js";
export type { CodeLocation, Registration, TaskLocation } from "./describe/registration.js";
export { checkEntities } from "./testing/check.js";

// Execution
export { elementInputs, runTask, type TaskResult, type TaskRun } from "./describe/run-task.js";
export { type Children, withChildren } from "./entity/children.js";
export { type Context, type DeckPage, type LogLine, withContext } from "./entity/context.js";
export { isRecoverable } from "./local/attempts.js";
export { type LocalResult, runDefinition } from "./local/run.js";
export type { LocalOptions } from "./local/options.js";
export { FolderCache } from "./local/cache.js";

// Values
export type { AnyType, Described } from "./type/type.js";
export { decodeInputs, decodeOutputs, encodeInputs, encodeOutputs, InvalidInput, InvalidOutput } from "./codec/interface-values.js";
export { literalTypeOf, typedInterfaceOf } from "./codec/literal-type.js";
export { typeOfLiteralType } from "./codec/literal-type-reader.js";
export type { FileStore } from "./file/file.js";
export { LocalFileStore } from "./file/local-store.js";
