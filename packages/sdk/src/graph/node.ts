import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { durationFromMs } from "@bufbuild/protobuf/wkt";
import type { Binding } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  type Node,
  type NodeMetadata,
  NodeMetadataSchema,
  NodeSchema,
  type TaskNodeOverrides,
  TaskNodeOverridesSchema,
} from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { extendedResourcesOf, resourcesOf } from "../describe/resources.js";
import { podOf } from "../describe/pod.js";
import { type Definition, definitionOf, type ReferenceDefinition, shownName, type TaskDefinition } from "../entity/definition.js";
import { type AnyEntity } from "../entity/entity.js";
import { GraphError } from "../entity/errors.js";
import type { Awaitable, NodeOptions } from "../entity/settings.js";
import { durationOf } from "../type/duration.js";
import { mayBeAbsent } from "../type/type.js";
import { bindAll, upstreamOf } from "./binding.js";
import type { Compilation } from "./compilation.js";
import { currentGraph, type Graph } from "./graph.js";
import { nodeIn, outputReferences } from "./reference.js";

export type NodeTarget = MessageInitShape<typeof NodeSchema>["target"];

/** Adds the node of an entity's call; returns references to its outputs. */
export function callEntity(entity: AnyEntity, args: unknown, options: NodeOptions = {}): object {
  const definition = definitionOf(entity);
  const graph = currentGraph(shownName(definition));
  const inputs = bindAll(definition.inputs, inputsOf(definition, args));
  const id = graph.reserveId(options.name);
  graph.add(
    makeNode({
      id,
      inputs,
      after: options.after,
      metadata: metadataOf(definition, graph.compilation, options),
      target: targetOf(definition, graph, options),
    }),
  );
  return outputReferences(definition, id);
}

interface NodeParts {
  readonly id: string;
  readonly inputs?: Binding[];
  readonly after?: readonly Awaitable[] | undefined;
  /** Ids of further nodes to wait for. */
  readonly upstream?: readonly string[];
  readonly metadata: NodeMetadata;
  readonly target: NodeTarget;
}

/** Makes a node that follows the nodes of its inputs, of `after` and of `upstream`. */
export function makeNode({ id, inputs = [], after, upstream = [], metadata, target }: NodeParts): Node {
  const upstreamNodeIds = [...new Set([...upstreamOf(inputs), ...awaited(after), ...upstream])];
  return create(NodeSchema, { id, metadata, inputs, upstreamNodeIds, ...(target && { target }) });
}

/** Lists the nodes to wait for. */
export function awaited(after: readonly Awaitable[] = []): readonly string[] {
  return after
    .map((value) => {
      const id = nodeIn(value);
      if (id === undefined) throw new GraphError("after takes what calls of nodes return");
      return id;
    })
    .filter((id) => id !== "");
}

/** Checks the names of the inputs; adds defaults, which launch plans add by themselves. */
function inputsOf(definition: Definition, args: unknown): Readonly<Record<string, unknown>> {
  const given = (args ?? {}) as Readonly<Record<string, unknown>>;
  const { inputs } = definition;
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(inputs, name));
  if (unknown !== undefined)
    throw new GraphError(`${shownName(definition)} has no input ${unknown}; it has ${Object.keys(inputs).join(", ") || "none"}`);
  return Object.fromEntries(
    Object.entries(inputs).flatMap(([name, type]): [string, unknown][] => {
      const value = Object.hasOwn(given, name) ? given[name] : undefined;
      if (value !== undefined) return [[name, value]];
      if (!mayBeAbsent(type)) throw new GraphError(`${shownName(definition)} needs the input ${name}`);
      return isLaunchPlan(definition) ? [] : [[name, undefined]];
    }),
  );
}

function isLaunchPlan(definition: Definition): boolean {
  return definition.kind === "launchplan" || (definition.kind === "reference" && definition.address.kind === "launchplan");
}

/** Returns the metadata of a node: that of the task, changed by the options. */
export function metadataOf(definition: Definition, compilation: Compilation, options: NodeOptions): NodeMetadata {
  const settings = definition.kind === "task" ? definition.settings : {};
  const timeout = options.timeout ?? settings.timeout;
  const interruptible = options.interruptible ?? settings.interruptible;
  const name = compilation.name(definition).split(".").at(-1) ?? "";
  return nodeMetadata(name, {
    ...(timeout !== undefined && { timeout }),
    ...(interruptible !== undefined && { interruptible }),
    ...(options.cache !== undefined && { cache: options.cache }),
    retries: options.retries ?? settings.retries ?? 0,
  });
}

/** Makes the metadata of a node. */
export function nodeMetadata(
  name: string,
  { timeout, retries = 0, interruptible, cache }: Pick<NodeOptions, "timeout" | "retries" | "interruptible" | "cache">,
): NodeMetadata {
  return create(NodeMetadataSchema, {
    name,
    retries: { retries },
    ...(timeout !== undefined && { timeout: durationFromMs(durationOf(timeout).milliseconds) }),
    ...(interruptible !== undefined && { interruptibleValue: { case: "interruptible" as const, value: interruptible } }),
    ...(cache !== undefined && { cacheableValue: { case: "cacheable" as const, value: cache } }),
  });
}

/** Returns the reference to the entity that a node executes. */
export function targetOf(definition: Definition, graph: Graph, options: NodeOptions): NodeTarget {
  const { compilation } = graph;
  switch (definition.kind) {
    case "task":
      return taskTarget(definition, compilation, options);
    case "workflow": {
      const { template } = compilation.workflow(definition);
      return { case: "workflowNode", value: { reference: { case: "subWorkflowRef", value: requireId(template.id) } } };
    }
    case "launchplan":
      return { case: "workflowNode", value: { reference: { case: "launchplanRef", value: compilation.useLaunchPlan(definition) } } };
    case "reference":
      return referenceTarget(definition, compilation, options);
  }
}

function requireId<T>(id: T | undefined): T {
  if (id === undefined) throw new GraphError("a template has no id");
  return id;
}

function taskTarget(definition: TaskDefinition, compilation: Compilation, options: NodeOptions): NodeTarget {
  const overrides = overridesOf(options);
  return { case: "taskNode", value: { reference: { case: "referenceId", value: compilation.useTask(definition) }, overrides } };
}

function referenceTarget(definition: ReferenceDefinition, compilation: Compilation, options: NodeOptions): NodeTarget {
  const id = compilation.useReference(definition);
  switch (definition.address.kind) {
    case "task":
      return { case: "taskNode", value: { reference: { case: "referenceId", value: id }, overrides: overridesOf(options) } };
    case "launchplan":
      return { case: "workflowNode", value: { reference: { case: "launchplanRef", value: id } } };
    case "workflow":
      throw new GraphError(`the workflow ${id.name} is registered elsewhere: refer to its launch plan instead`);
  }
}

/** Returns the settings of a node that differ from those of its task. */
export function overridesOf({ resources, image, podTemplate }: NodeOptions): TaskNodeOverrides {
  const extendedResources = resources && extendedResourcesOf(resources);
  return create(TaskNodeOverridesSchema, {
    ...(resources !== undefined && { resources: resourcesOf(resources) }),
    ...(extendedResources !== undefined && { extendedResources }),
    ...(image !== undefined && { containerImage: image }),
    ...(podTemplate !== undefined && { podTemplate: podOf(podTemplate) }),
  });
}
