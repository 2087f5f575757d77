import { identifierKey, literalsEqual } from "@flyte-ts/domain";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { RuntimeNode } from "../graph/runtime.js";
import type { FormerNode } from "./questions.js";

/**
 * Nodes whose former outputs are asked for: all that compute or wait. Failure nodes
 * handle what fails now; of the items of a map nobody knows as nodes.
 */
export function mayBeRecovered(node: RuntimeNode): boolean {
  const { kind } = node.model.target;
  return node.scope.array?.tells !== "items" && kind !== "start" && kind !== "end" && node !== node.scope.failureNode;
}

/** What the node would do now. */
export interface Present {
  readonly inputs: LiteralMap;
  /** Undefined for nodes that run no task. */
  readonly task: Identifier | undefined;
  /** Others take its outputs. */
  readonly isBound: boolean;
}

/**
 * Whether the former outputs stand for the node's: it succeeded, with the same inputs
 * and the same version of the same task. Go Flyte looks at the success alone, and
 * gives outputs that belong to other inputs where an execution went another way. Outputs
 * that others need and that are not known any more stand for nothing: every recovery would fail for them.
 */
export function isReusable(former: FormerNode, { inputs, task, isBound }: Present): boolean {
  if (!former.succeeded || former.inputs === undefined || !sameLiterals(former.inputs, inputs)) return false;
  if (isBound && former.outputs === undefined) return false;
  return former.tasks.every((id) => task !== undefined && identifierKey(id) === identifierKey(task));
}

function sameLiterals(a: LiteralMap, b: LiteralMap): boolean {
  const names = Object.keys(a.literals);
  if (names.length !== Object.keys(b.literals).length) return false;
  return names.every((name) => {
    const [one, other] = [a.literals[name], b.literals[name]];
    return one !== undefined && other !== undefined && literalsEqual(one, other);
  });
}
