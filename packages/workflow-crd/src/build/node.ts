import type { JsonObject } from "@bufbuild/protobuf";
import { goDuration } from "@flyte-ts/domain/duration";
import { identifierKey } from "@flyte-ts/domain/identifier";
import { canonicalQuantity, isZeroQuantity } from "@flyte-ts/domain/quantity";
import { BooleanExpressionSchema } from "@flyte-ts/idl/flyteidl/core/condition_pb";
import { IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { BindingSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import {
  ExtendedResourcesSchema,
  K8sPodSchema,
  type Resources,
  Resources_ResourceName,
  type TaskTemplate,
} from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { ErrorSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";
import {
  AliasSchema,
  ApproveConditionSchema,
  SignalConditionSchema,
  SleepConditionSchema,
  ArrayNode_DataMode,
  type ArrayNode,
  type BranchNode,
  type GateNode,
  type IfBlock,
  type Node,
  type TaskNodeOverrides,
  type WorkflowNode,
} from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { END_NODE, START_NODE } from "@flyte-ts/domain/graph";
import { WorkflowBuildError } from "./build-error.js";
import { goStructJson, protobufJson } from "./protobuf-json.js";

/** Templates of the closure's tasks, by identifier key. */
export type Tasks = ReadonlyMap<string, TaskTemplate>;

/**
 * `json` for a resource; `message` for callers that parse the form at once: bindings, the largest
 * part of a large graph, stay protobuf messages.
 */
export type BindingForm = "json" | "message";

/** A node in the form of the resource. */
export type NodeJson = JsonObject & { readonly id: string };

/**
 * Builds a node and, after it, the nodes within its branches: the resource holds them all in one
 * flat map.
 */
export function buildNodes(node: Node, tasks: Tasks, bindings: BindingForm): NodeJson[] {
  const path = `node ${node.id}`;
  const target = node.target;
  let task: TaskTemplate | undefined;
  let overrides: TaskNodeOverrides | undefined;
  if (target.case === "taskNode") {
    const key = taskKey(node);
    task = tasks.get(key);
    if (task === undefined) throw new WorkflowBuildError(path, `the closure contains no task ${key}`);
    overrides = target.value.overrides;
  }
  const nested = target.case === "branchNode" ? branchChildren(target.value).flatMap((child) => buildNodes(child, tasks, bindings)) : [];
  return [{ ...buildCommon({ node, task, overrides, bindings }), ...buildTarget(node, tasks, bindings) }, ...nested];
}

interface NodeSource {
  readonly node: Node;
  readonly task: TaskTemplate | undefined;
  readonly overrides: TaskNodeOverrides | undefined;
  readonly bindings: BindingForm;
}

function buildCommon({ node, task, overrides, bindings }: NodeSource): NodeJson {
  const { metadata } = node;
  const retries = metadata?.retries?.retries || task?.metadata?.retries?.retries || 0;
  const json: NodeJson = { id: node.id, resources: buildResources(overrides?.resources, node.id) };
  if (metadata !== undefined && metadata.name !== "") json["name"] = metadata.name;
  if (retries > 0) json["retry"] = { minAttempts: retries + 1 };
  if (metadata?.timeout !== undefined) {
    const nanos = metadata.timeout.seconds * 1_000_000_000n + BigInt(metadata.timeout.nanos);
    json["executionDeadline"] = goDuration(nanos);
    // Applies Go Flyte's rule: the active deadline is twice the execution deadline, which leaves as
    // much time again for queueing and retries.
    json["activeDeadline"] = goDuration(2n * nanos);
  }
  if (metadata?.interruptibleValue.case === "interruptible") json["interruptible"] = metadata.interruptibleValue.value;
  if (overrides?.extendedResources !== undefined)
    json["extendedResources"] = protobufJson(ExtendedResourcesSchema, overrides.extendedResources);
  if (overrides !== undefined && overrides.containerImage !== "") json["containerImage"] = overrides.containerImage;
  if (overrides?.podTemplate !== undefined) json["podTemplate"] = goStructJson(K8sPodSchema, overrides.podTemplate);
  if (node.outputAliases.length > 0) json["outputAlias"] = node.outputAliases.map((alias) => goStructJson(AliasSchema, alias));
  if (node.inputs.length > 0)
    json["inputBindings"] = node.inputs.map((binding) =>
      bindings === "message" ? (binding as unknown as JsonObject) : protobufJson(BindingSchema, binding),
    );
  return json;
}

function buildTarget(node: Node, tasks: Tasks, bindings: BindingForm): JsonObject {
  const { target } = node;
  switch (target.case) {
    case "taskNode":
      return { kind: "task", task: taskKey(node) };
    case "workflowNode":
      return { kind: "workflow", workflow: buildWorkflowNode(target.value, node.id) };
    case "branchNode":
      return { kind: "branch", branch: buildBranch(target.value, node.id) };
    case "gateNode":
      return { kind: "gate", gate: buildGate(target.value, node.id) };
    case "arrayNode":
      return { kind: "array", array: buildArray(target.value, node.id, { tasks, bindings }) };
    case undefined:
      if (node.id === START_NODE) return { kind: "start" };
      if (node.id === END_NODE) return { kind: "end" };
      throw new WorkflowBuildError(`node ${node.id}`, "has no target");
  }
}

function taskKey({ id, target }: Node): string {
  const reference = target.case === "taskNode" && target.value.reference.case === "referenceId" ? target.value.reference.value : undefined;
  if (reference === undefined) throw new WorkflowBuildError(`node ${id}`, "names no task");
  return identifierKey(reference);
}

function buildWorkflowNode({ reference }: WorkflowNode, id: string): JsonObject {
  switch (reference.case) {
    case "launchplanRef":
      return { launchPlanRefId: protobufJson(IdentifierSchema, reference.value) };
    case "subWorkflowRef":
      return { subWorkflowRef: identifierKey(reference.value) };
    case undefined:
      throw new WorkflowBuildError(`node ${id}`, "names neither a launch plan nor a workflow");
  }
}

function branchChildren({ ifElse }: BranchNode): Node[] {
  const otherwise = ifElse?.default.case === "elseNode" ? ifElse.default.value : undefined;
  return [ifElse?.case?.thenNode, otherwise, ...(ifElse?.other ?? []).map((arm) => arm.thenNode)].filter((node) => node !== undefined);
}

function buildBranch({ ifElse }: BranchNode, id: string): JsonObject {
  if (ifElse?.case === undefined) throw new WorkflowBuildError(`node ${id}`, "is a branch without a condition");
  const json: JsonObject = { if: buildArm(ifElse.case, id) };
  if (ifElse.other.length > 0) json["elseIf"] = ifElse.other.map((arm) => buildArm(arm, id));
  if (ifElse.default.case === "elseNode") json["else"] = ifElse.default.value.id;
  if (ifElse.default.case === "error") json["elseFail"] = goStructJson(ErrorSchema, ifElse.default.value);
  return json;
}

function buildArm({ condition, thenNode }: IfBlock, id: string): JsonObject {
  if (condition === undefined) throw new WorkflowBuildError(`node ${id}`, "has an arm without a condition");
  if (thenNode === undefined) throw new WorkflowBuildError(`node ${id}`, "has an arm without a node");
  // oxlint-disable-next-line unicorn/no-thenable -- the field's name in the resource
  return { condition: protobufJson(BooleanExpressionSchema, condition), then: thenNode.id };
}

function buildGate({ condition }: GateNode, id: string): JsonObject {
  switch (condition.case) {
    case "approve":
      return { kind: "approve", approve: protobufJson(ApproveConditionSchema, condition.value) };
    case "signal":
      return { kind: "signal", signal: protobufJson(SignalConditionSchema, condition.value) };
    case "sleep":
      return { kind: "sleep", sleep: protobufJson(SleepConditionSchema, condition.value) };
    case undefined:
      throw new WorkflowBuildError(`node ${id}`, "is a gate without a condition");
  }
}

function buildArray(array: ArrayNode, id: string, { tasks, bindings }: { tasks: Tasks; bindings: BindingForm }): JsonObject {
  if (array.node === undefined) throw new WorkflowBuildError(`node ${id}`, "is an array without a node");
  const { successCriteria } = array;
  return {
    SubNodeSpec: buildNodes(array.node, tasks, bindings)[0] ?? null,
    Parallelism: array.parallelismOption.case === "parallelism" ? array.parallelismOption.value : null,
    MinSuccesses: successCriteria.case === "minSuccesses" ? successCriteria.value : null,
    MinSuccessRatio: successCriteria.case === "minSuccessRatio" ? float32(successCriteria.value) : null,
    BoundInputs: array.boundInputs.length === 0 ? null : array.boundInputs,
    // An extension for arrays that Go Flyte does not compile: items take their inputs unchanged,
    // not out of lists.
    ...(array.isOriginalSubNodeInterface === true || array.dataMode === ArrayNode_DataMode.INDIVIDUAL_INPUT_FILES
      ? { OriginalInterface: true }
      : {}),
  };
}

/** The shortest number that reads back as the same 32-bit float. */
function float32(value: number): number {
  for (let digits = 1; digits < 10; digits++) {
    const candidate = Number(value.toPrecision(digits));
    if (Math.fround(candidate) === Math.fround(value)) return candidate;
  }
  return value;
}

const KUBERNETES_NAMES: Partial<Record<Resources_ResourceName, string>> = {
  [Resources_ResourceName.CPU]: "cpu",
  [Resources_ResourceName.MEMORY]: "memory",
  [Resources_ResourceName.GPU]: "nvidia.com/gpu",
  [Resources_ResourceName.EPHEMERAL_STORAGE]: "ephemeral-storage",
};

/**
 * Kubernetes resource requirements; zero quantities and resources without a Kubernetes name are
 * dropped.
 */
function buildResources(resources: Resources | undefined, id: string): JsonObject {
  const json: JsonObject = {};
  for (const kind of ["limits", "requests"] as const) {
    const list: JsonObject = {};
    for (const { name, value } of resources?.[kind] ?? []) {
      const kubernetesName = KUBERNETES_NAMES[name];
      if (kubernetesName !== undefined && !isZero(value, `node ${id}: ${kind}`)) list[kubernetesName] = canonicalQuantity(value);
    }
    if (Object.keys(list).length > 0) json[kind] = list;
  }
  return json;
}

function isZero(quantity: string, path: string): boolean {
  try {
    return isZeroQuantity(quantity);
  } catch (cause) {
    throw new WorkflowBuildError(path, cause instanceof Error ? cause.message : String(cause), { cause });
  }
}
