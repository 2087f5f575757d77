import type { JsonObject } from "@bufbuild/protobuf";
import type { Outputs } from "../graph/reference-type.js";
import type { Fields } from "../type/type.js";
import type { Context } from "./context.js";
import type { AnyEntity, EntityKind } from "./entity.js";
import { GraphError } from "./errors.js";
import type { LaunchPlanSettings } from "./launch-plan-settings.js";
import { type Origin, originText } from "./origin.js";
import type { TaskSettings } from "./settings.js";

/** Name of the output of `outputs: t.int`. */
export const SINGLE_OUTPUT = "o0";

export interface Interface {
  readonly inputs: Fields;
  /** By name; a single unnamed output is `o0`. */
  readonly outputs: Fields;
  /** True for one unnamed output. */
  readonly single: boolean;
}

interface Common extends Interface {
  readonly entity: AnyEntity;
  readonly name: string | undefined;
  readonly origin: Origin;
}

/** The function of a task, or of a graph that a dynamic task builds. */
export type TaskFunction = (inputs: unknown, context: Context) => unknown;

export interface RawContainer {
  readonly image: string;
  readonly command: readonly string[];
  readonly inputFolder: string;
  readonly outputFolder: string;
}

/** The four ways in which a task is executed. */
export type TaskForm =
  | { readonly form: "function" | "dynamic"; readonly fn: TaskFunction }
  | { readonly form: "eager"; readonly fn: TaskFunction; readonly concurrency: number | undefined }
  | { readonly form: "container"; readonly container: RawContainer }
  | { readonly form: "connector"; readonly type: string; readonly custom: JsonObject };

export interface TaskDefinition extends Common {
  readonly kind: "task";
  readonly settings: TaskSettings;
  readonly execution: TaskForm;
}

/** True when the function of a task calls entities: it builds a graph, or starts executions. */
export function callsEntities({ execution }: TaskDefinition): boolean {
  return execution.form === "dynamic" || execution.form === "eager";
}

export interface WorkflowDefinition extends Common {
  readonly kind: "workflow";
  readonly description: string | undefined;
  readonly failurePolicy: "fail-immediately" | "fail-after-running";
  readonly interruptible: boolean | undefined;
  readonly onFailure: AnyEntity | undefined;
  /** Builds the graph from references to the inputs. */
  readonly build: (inputs: Readonly<Record<string, unknown>>) => unknown;
}

export interface LaunchPlanDefinition extends Common {
  readonly kind: "launchplan";
  readonly workflow: AnyEntity;
  readonly settings: LaunchPlanSettings;
}

/** Address of a registered entity; what is missing is that of the registration. */
export interface EntityAddress {
  readonly kind: EntityKind;
  readonly project?: string;
  readonly domain?: string;
  readonly name: string;
  readonly version?: string;
}

export interface ReferenceDefinition extends Common {
  readonly kind: "reference";
  readonly address: EntityAddress;
}

export type Definition = TaskDefinition | WorkflowDefinition | LaunchPlanDefinition | ReferenceDefinition;

const definitions = new WeakMap<AnyEntity, Definition>();
const names = new WeakMap<AnyEntity, string>();

/** Addresses without a version of the references that this process has made. */
const openReferences = new Map<string, EntityAddress>();

export function define(definition: Definition): void {
  definitions.set(definition.entity, definition);
  if (definition.kind !== "reference" || definition.address.version !== undefined) return;
  openReferences.set(JSON.stringify(definition.address), definition.address);
}

/** Lists the addresses without a version that references of this process have. */
export function madeReferences(): readonly EntityAddress[] {
  return [...openReferences.values()];
}

/** Returns the definition of an entity; undefined for other values. */
export function findDefinition(value: unknown): Definition | undefined {
  return typeof value === "function" ? definitions.get(value as unknown as AnyEntity) : undefined;
}

/** @throws TypeError when the value is not made by this SDK */
export function definitionOf(entity: AnyEntity): Definition {
  const definition = definitions.get(entity);
  if (definition === undefined) throw new TypeError("this value is not an entity of this SDK");
  return definition;
}

/** Names an entity after its module and export, unless it has a name of its own. */
export function assignName(entity: AnyEntity, name: string): void {
  names.set(entity, name);
}

/** Returns the name of an entity; undefined when it is neither named nor exported. */
export function findName(definition: Definition): string | undefined {
  if (definition.kind === "reference") return definition.address.name;
  return definition.name ?? names.get(definition.entity);
}

/** @throws GraphError when it has no name */
export function nameOf(definition: Definition): string {
  const name = findName(definition);
  if (name !== undefined) return name;
  throw new GraphError(
    `the ${definition.kind} made at ${originText(definition.origin)} is neither exported nor named: export it or set name`,
  );
}

/** Returns a name for messages, also without a registered name. */
export function shownName(definition: Definition): string {
  return findName(definition) ?? `the ${definition.kind} made at ${originText(definition.origin)}`;
}

/** Normalizes the outputs of an entity. */
export function interfaceOf(inputs: Fields | undefined, outputs: Outputs): Interface {
  if (outputs === undefined) return { inputs: inputs ?? {}, outputs: {}, single: false };
  if (isType(outputs)) return { inputs: inputs ?? {}, outputs: { [SINGLE_OUTPUT]: outputs }, single: true };
  return { inputs: inputs ?? {}, outputs, single: false };
}

/** True for a type, false for an object of types, which may have a field of the name `kind`. */
export function isType(outputs: Exclude<Outputs, undefined>): outputs is Extract<Outputs, { kind: string }> {
  return typeof outputs["kind"] === "string";
}
