import { durationFromMs } from "@bufbuild/protobuf/wkt";
import { literalTypeOf } from "../codec/literal-type.js";
import { SINGLE_OUTPUT } from "../entity/definition.js";
import type { Awaitable } from "../entity/settings.js";
import { type DurationText, durationOf } from "../type/duration.js";
import type { AnyType } from "../type/type.js";
import { currentGraph } from "./graph.js";
import { makeNode, nodeMetadata } from "./node.js";
import { nodeHandle, outputReferences } from "./reference.js";
import type { Done, Ref } from "./reference-type.js";

export interface GateOptions {
  readonly timeout?: DurationText;
  readonly after?: readonly Awaitable[];
}

/** Adds a node that waits for a value from outside. */
export function signal<T extends AnyType>(name: string, type: T, { timeout, after }: GateOptions = {}): Ref<T> {
  const graph = currentGraph(`signal(${JSON.stringify(name)})`);
  const id = graph.reserveId(undefined);
  const metadata = nodeMetadata(name, { ...(timeout && { timeout }) });
  const condition = { case: "signal" as const, value: { signalId: name, type: literalTypeOf(type), outputVariableName: SINGLE_OUTPUT } };
  graph.add(makeNode({ id, after, metadata, target: { case: "gateNode", value: { condition } } }));
  return outputReferences({ outputs: { [SINGLE_OUTPUT]: type }, single: true }, id) as Ref<T>;
}

/** Adds a node that waits for an approval. */
export function approve(name: string, { timeout, after }: GateOptions = {}): Done {
  const graph = currentGraph(`approve(${JSON.stringify(name)})`);
  const id = graph.reserveId(undefined);
  const metadata = nodeMetadata(name, { ...(timeout && { timeout }) });
  const condition = { case: "approve" as const, value: { signalId: name } };
  graph.add(makeNode({ id, after, metadata, target: { case: "gateNode", value: { condition } } }));
  return nodeHandle(id) as Done;
}

/** Adds a node that waits for a time. */
export function sleep(duration: DurationText, { after }: Pick<GateOptions, "after"> = {}): Done {
  const graph = currentGraph("sleep()");
  const id = graph.reserveId(undefined);
  const condition = { case: "sleep" as const, value: { duration: durationFromMs(durationOf(duration).milliseconds) } };
  graph.add(makeNode({ id, after, metadata: nodeMetadata("sleep", {}), target: { case: "gateNode", value: { condition } } }));
  return nodeHandle(id) as Done;
}
