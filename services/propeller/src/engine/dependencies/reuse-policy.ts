import { identifierKey } from "@flyte-ts/domain/identifier";
import { literalsEqual } from "@flyte-ts/domain/literal";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import type { PriorNode } from "../calls/recovery.js";

/**
 * True for nodes whose earlier outputs are looked up: all that compute or wait. Failure nodes
 * handle the current failure; items of a map have no node records.
 */
export function canRecover(node: RuntimeNode): boolean {
  const { kind } = node.model.target;
  return node.scope.array?.reportsItemsAs !== "items" && kind !== "start" && kind !== "end" && node !== node.scope.failureNode;
}

/** Planned execution of the node. */
export interface CurrentNode {
  readonly inputs: LiteralMap;
  /** Undefined for nodes without a task. */
  readonly task: Identifier | undefined;
  /** True when other nodes bind the node's outputs. */
  readonly isBound: boolean;
}

/**
 * True when the earlier outputs are valid for the node: it succeeded, with the same inputs and the
 * same version of the same task. Go Flyte checks only the success, and reuses outputs of other
 * inputs when an execution took another path. Needed outputs that are no longer available cannot be
 * reused: every recovery would fail on them.
 */
export function canReuse(prior: PriorNode, { inputs, task, isBound }: CurrentNode): boolean {
  if (!prior.succeeded || prior.inputs === undefined || !sameLiterals(prior.inputs, inputs)) return false;
  if (isBound && prior.outputs === undefined) return false;
  return prior.tasks.every((id) => task !== undefined && identifierKey(id) === identifierKey(task));
}

function sameLiterals(a: LiteralMap, b: LiteralMap): boolean {
  const names = Object.keys(a.literals);
  if (names.length !== Object.keys(b.literals).length) return false;
  return names.every((name) => {
    const [one, other] = [a.literals[name], b.literals[name]];
    return one !== undefined && other !== undefined && literalsEqual(one, other);
  });
}
