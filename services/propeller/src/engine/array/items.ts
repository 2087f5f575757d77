import { create } from "@bufbuild/protobuf";
import { collectionLiteral, literalMap } from "@flyte-ts/domain/literal";
import { type VariableMap, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { Literal, LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { TaskTemplate } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import type { NodeModel } from "@flyte-ts/workflow-crd";

/** Id of the node that runs an item. */
export function itemId(index: number): string {
  return `n${index}`;
}

/** Index of the item whose node has this id. */
export function itemIndex(id: string): number {
  return Number(id.slice(1));
}

/** Node that runs an item: the array's inner node, with inputs that the array provides. */
export function itemModel(subNode: NodeModel, index: number): NodeModel {
  const id = itemId(index);
  return { ...subNode, id, name: id, inputBindings: [] };
}

/** Inputs of one item: its element of each list, and the bound inputs. */
export function elementInputs(inputs: LiteralMap, index: number, boundInputs: readonly string[]): LiteralMap {
  return mapInputs(inputs, boundInputs, (literal) =>
    literal.value.case === "collection" ? (literal.value.value.literals[index] ?? literal) : literal,
  );
}

/**
 * Inputs of one item in lists of one element, for programs that select their element themselves.
 */
export function wrapInLists(inputs: LiteralMap, boundInputs: readonly string[]): LiteralMap {
  return mapInputs(inputs, boundInputs, (literal) => collectionLiteral([literal]));
}

function mapInputs(inputs: LiteralMap, boundInputs: readonly string[], change: (literal: Literal) => Literal): LiteralMap {
  return literalMap(
    Object.entries(inputs.literals).map(([name, literal]) => [name, boundInputs.includes(name) ? literal : change(literal)] as const),
  );
}

/** Inputs that are the same for all items. */
export function boundInputsOf(inputs: LiteralMap, boundInputs: readonly string[]): LiteralMap {
  return literalMap(Object.entries(inputs.literals).filter(([name]) => boundInputs.includes(name)));
}

/**
 * Task template for a single item: tasks made for arrays are registered with list types. `inputs`
 * false keeps the registered input types, which cache keys use.
 */
export function itemTemplate(template: TaskTemplate, boundInputs: readonly string[], { inputs }: { inputs: boolean }): TaskTemplate {
  const { interface: own } = template;
  if (own === undefined) return template;
  return {
    ...template,
    interface: {
      ...own,
      ...(inputs && own.inputs !== undefined ? { inputs: unwrapListTypes(own.inputs, boundInputs) } : {}),
      ...(own.outputs === undefined ? {} : { outputs: unwrapListTypes(own.outputs, []) }),
    },
  };
}

function unwrapListTypes(map: VariableMap, except: readonly string[]): VariableMap {
  const variables = Object.entries(map.variables).map(([name, variable]) => {
    const itemType = variable.type?.type.case === "collectionType" ? variable.type.type.value : undefined;
    return [name, itemType === undefined || except.includes(name) ? variable : { ...variable, type: itemType }] as const;
  });
  return create(VariableMapSchema, { variables: Object.fromEntries(variables) });
}
