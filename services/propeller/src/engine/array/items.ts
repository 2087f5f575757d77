import { create } from "@bufbuild/protobuf";
import { collectionLiteral, literalMap } from "@flyte-ts/domain";
import { type VariableMap, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { NodeModel } from "@flyte-ts/workflow-crd";

/** Id of the node that runs an item. */
export function itemId(index: number): string {
  return `n${index}`;
}

/** Place of the item whose node has this id. */
export function itemIndex(id: string): number {
  return Number(id.slice(1));
}

/** The node that runs an item: the array's inner node, with inputs that the array hands out. */
export function itemModel(subNode: NodeModel, index: number): NodeModel {
  const id = itemId(index);
  return { ...subNode, id, name: id, inputBindings: [] };
}

/** An item's own inputs: its element of each list, and what is the same for all. */
export function itemInputs(inputs: LiteralMap, index: number, boundInputs: readonly string[]): LiteralMap {
  return mapInputs(inputs, boundInputs, (literal) =>
    literal.value.case === "collection" ? (literal.value.value.literals[index] ?? literal) : literal,
  );
}

/** An item's inputs in lists of one, for programs that pick their element themselves. */
export function inLists(inputs: LiteralMap, boundInputs: readonly string[]): LiteralMap {
  return mapInputs(inputs, boundInputs, (literal) => collectionLiteral([literal]));
}

function mapInputs(inputs: LiteralMap, boundInputs: readonly string[], change: (literal: Literal) => Literal): LiteralMap {
  return literalMap(
    Object.entries(inputs.literals).map(([name, literal]) => [name, boundInputs.includes(name) ? literal : change(literal)] as const),
  );
}

/** What is the same for all items. */
export function boundPart(inputs: LiteralMap, boundInputs: readonly string[]): LiteralMap {
  return literalMap(Object.entries(inputs.literals).filter(([name]) => boundInputs.includes(name)));
}

/**
 * The task as one item sees it: tasks that are made for arrays are registered with
 * lists. `inputs` false leaves the inputs as they are registered, as cache keys have them.
 */
export function itemTemplate(template: TaskTemplate, boundInputs: readonly string[], { inputs }: { inputs: boolean }): TaskTemplate {
  const { interface: own } = template;
  if (own === undefined) return template;
  return {
    ...template,
    interface: {
      ...own,
      ...(inputs && own.inputs !== undefined ? { inputs: single(own.inputs, boundInputs) } : {}),
      ...(own.outputs === undefined ? {} : { outputs: single(own.outputs, []) }),
    },
  };
}

function single(map: VariableMap, except: readonly string[]): VariableMap {
  const variables = Object.entries(map.variables).map(([name, variable]) => {
    const inner = variable.type?.type.case === "collectionType" ? variable.type.type.value : undefined;
    return [name, inner === undefined || except.includes(name) ? variable : { ...variable, type: inner }] as const;
  });
  return create(VariableMapSchema, { variables: Object.fromEntries(variables) });
}
