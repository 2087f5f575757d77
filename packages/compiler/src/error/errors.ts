import { typeToText } from "@flyte-ts/domain/type";
import { type LiteralType, SimpleType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { CompileError } from "./compile-error.js";

export function valueRequired(nodeId: string, field: string): CompileError {
  return { code: "ValueRequired", nodeId, description: `[${field}] must be set.` };
}

export function invalidValue(nodeId: string, field: string, rule: string): CompileError {
  return { code: "InvalidValue", nodeId, description: `[${field}] ${rule}.` };
}

export function unrecognizedValue(nodeId: string, value: string, rule: string): CompileError {
  return { code: "UnrecognizedValue", nodeId, description: `[${value}] ${rule}.` };
}

export function duplicateId(id: string): CompileError {
  return { code: "DuplicateId", nodeId: id, description: "This id is used more than once." };
}

export function taskNotFound(nodeId: string, reference: string): CompileError {
  return { code: "TaskReferenceNotFound", nodeId, description: `Task [${reference}] is not known.` };
}

export function workflowNotFound(nodeId: string, reference: string): CompileError {
  return { code: "WorkflowReferenceNotFound", nodeId, description: `Workflow or launch plan [${reference}] is not known.` };
}

export function nodeNotFound(nodeId: string): CompileError {
  return { code: "NodeReferenceNotFound", nodeId, description: `Node [${nodeId}] is bound to, but the workflow has no such node.` };
}

export function variableNotFound(nodeId: string, variable: string): CompileError {
  return { code: "VariableNameNotFound", nodeId, description: `Node [${nodeId}] has no variable [${variable}].` };
}

export function notBound(nodeId: string, variable: string): CompileError {
  return { code: "ParameterNotBound", nodeId, description: `Variable [${variable}] of node [${nodeId}] is not bound to any value.` };
}

export function boundTwice(nodeId: string, variable: string): CompileError {
  return {
    code: "ParameterBoundMoreThanOnce",
    nodeId,
    description: `Variable [${variable}] of node [${nodeId}] is bound more than once.`,
  };
}

export function duplicateAlias(nodeId: string, alias: string): CompileError {
  return { code: "DuplicateAlias", nodeId, description: `Alias [${alias}] of node [${nodeId}] names an output that has an alias already.` };
}

export function mismatchingTypes(nodeId: string, variable: string, given: LiteralType | undefined, expected: LiteralType): CompileError {
  return {
    code: "MismatchingTypes",
    nodeId,
    description: `Variable [${variable}] has type [${describeType(given)}], where type [${describeType(expected)}] is expected.`,
  };
}

/** An output given to an input of another type: `from` and `to` name both in the user's terms. */
export function mismatchingOutput(nodeId: string, from: TypedName, to: TypedName): CompileError {
  return {
    code: "MismatchingTypes",
    nodeId,
    description: `Output [${from.name}] of type [${describeType(from.type)}] is bound to input [${to.name}] of type [${describeType(to.type)}].`,
  };
}

export interface TypedName {
  readonly name: string;
  readonly type: LiteralType | undefined;
}

export function mismatchingBindings(nodeId: string, expected: TypedName, received: string): CompileError {
  return {
    code: "MismatchingBindings",
    nodeId,
    description: `Input [${expected.name}] of node [${nodeId}] expects type [${describeType(expected.type)}], but is bound to [${received}].`,
  };
}

export function ambiguousUnion(nodeId: string, expected: TypedName, matches: readonly [LiteralType, LiteralType]): CompileError {
  const variants = matches.map((type) => `[${describeType(type)}]`).join(" and ");
  return {
    code: "AmbiguousBindingUnionValue",
    nodeId,
    description: `Input [${expected.name}] of node [${nodeId}] expects the union [${describeType(expected.type)}], and its value fits both ${variants}.`,
  };
}

export function incompatibleUnion(nodeId: string, expected: TypedName, received: string): CompileError {
  return {
    code: "IncompatibleBindingUnionValue",
    nodeId,
    description: `Input [${expected.name}] of node [${nodeId}] expects the union [${describeType(expected.type)}], and [${received}] fits none of its variants.`,
  };
}

export function illegalEnumValue(nodeId: string, variable: string, value: string, allowed: readonly string[]): CompileError {
  return {
    code: "IllegalEnumValue",
    nodeId,
    description: `Input [${variable}] of node [${nodeId}] must be one of [${allowed.join(" ")}], not [${value}].`,
  };
}

export function fieldNotFound(nodeId: string, from: TypedName, field: string): CompileError {
  return {
    code: "FieldNotFound",
    nodeId,
    description: `Output [${from.name}] of type [${describeType(from.type)}] has no field [${field}].`,
  };
}

export function badVariableName(nodeId: string, variable: string): CompileError {
  return { code: "SyntaxError", nodeId, description: `[${variable}] is neither a variable's name nor [index].name.` };
}

export function branchNodeMissing(nodeId: string): CompileError {
  return { code: "BranchNodeIdNotFound", nodeId, description: `A case of branch [${nodeId}] has no node to run.` };
}

export function branchHasNoCondition(nodeId: string): CompileError {
  return { code: "BranchNodeHasNoCondition", nodeId, description: `A case of branch [${nodeId}] has no condition.` };
}

export function branchHasNoDefault(nodeId: string): CompileError {
  return {
    code: "BranchNodeHasNoDefault",
    nodeId,
    description: `Branch [${nodeId}] needs an else node or an error for when no case holds.`,
  };
}

export function noGateCondition(nodeId: string): CompileError {
  return { code: "NoConditionFound", nodeId, description: `Gate [${nodeId}] neither waits for an approval or a signal, nor sleeps.` };
}

export function noNodes(workflow: string): CompileError {
  return { code: "NoNodesFound", nodeId: workflow, description: `Workflow [${workflow}] has no nodes.` };
}

export function cycle(nodeId: string, path: readonly string[]): CompileError {
  return { code: "CycleDetected", nodeId, description: `The graph has a cycle [${path.join(">")}].` };
}

export function unreachable(nodeId: string, nodes: readonly string[]): CompileError {
  return { code: "UnreachableNodes", nodeId, description: `No path leads to the nodes [${nodes.join(",")}].` };
}

/**
 * Formats a type for errors: as protobuf text, but a struct by its fields only, since its JSON
 * schema fills pages.
 */
function describeType(type: LiteralType | undefined): string {
  if (type?.type.case !== "simple" || type.type.value !== SimpleType.STRUCT) return typeToText(type);
  const fields = Object.entries(type.structure?.dataclassType ?? {}).slice(0, MAX_FIELDS);
  return `simple: STRUCT structure{${fields.map(([name, field]) => `dataclass_type:{key:${name} value:{${describeType(field)}}}`).join(", ")}}`;
}

const MAX_FIELDS = 50;
