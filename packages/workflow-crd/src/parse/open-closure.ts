import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type Node, NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { unwrapClosure } from "../closure-blob.js";
import { messagesIn, rewriteField } from "./encoded-fields.js";
import type { Field } from "./read.js";

/** A compiled closure whose graph's nodes are decoded one by one. */
export interface OpenClosure {
  /** The graph's nodes may be missing. */
  readonly closure: CompiledWorkflowClosure;
  readonly nodes: Iterable<Node>;
}

// Field numbers: CompiledWorkflowClosure, CompiledWorkflow, WorkflowTemplate.
const PRIMARY = 1;
const TEMPLATE = 1;
const NODES = 4;

/**
 * Opens the closure blob of a resource, in either form that `unwrapClosure` accepts. Decoded at once, 100,000 nodes
 * take 200 MiB: nodes are decoded one by one on iteration, the rest here.
 *
 * @param reference the field with the URI, for errors.
 * @throws WorkflowFormatError when the bytes are no closure; for a node, when it is iterated.
 */
export function openClosure(blob: Uint8Array, reference: Field): OpenClosure {
  const bytes = guarded(reference, () => unwrapClosure(blob));
  return { closure: guarded(reference, () => closureWithoutNodes(bytes)), nodes: nodesIn(bytes, reference) };
}

/** Decodes a compiled closure without the nodes of its own graph. */
export function closureWithoutNodes(bytes: Uint8Array): CompiledWorkflowClosure {
  const rest = rewriteField(bytes, PRIMARY, (primary) =>
    rewriteField(primary, TEMPLATE, (template) => rewriteField(template, NODES, () => undefined)),
  );
  return fromBinary(CompiledWorkflowClosureSchema, rest);
}

function* nodesIn(bytes: Uint8Array, reference: Field): Generator<Node> {
  for (const primary of messagesIn(bytes, PRIMARY))
    for (const template of messagesIn(primary, TEMPLATE))
      for (const node of messagesIn(template, NODES)) yield guarded(reference, () => fromBinary(NodeSchema, node));
}

function guarded<T>(reference: Field, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw reference.error(`what stands there is no ${CompiledWorkflowClosureSchema.typeName}: ${problem}`, { cause });
  }
}
