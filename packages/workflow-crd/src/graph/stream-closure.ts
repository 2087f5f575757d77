import { fromBinary } from "@bufbuild/protobuf";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type Node, NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { unwrapClosure } from "./closure-blob.js";
import { fieldValues, mapField } from "./encoded-fields.js";
import type { Field } from "../parse/field.js";

/** A compiled closure whose graph's nodes are decoded one by one. */
export interface StreamedClosure {
  /** The graph's nodes may be missing. */
  readonly closure: CompiledWorkflowClosure;
  readonly nodes: Iterable<Node>;
}

// Field numbers: CompiledWorkflowClosure, CompiledWorkflow, WorkflowTemplate.
const PRIMARY_FIELD = 1;
const TEMPLATE_FIELD = 1;
const NODES_FIELD = 4;

/**
 * Opens the closure blob of a resource, in either form that `unwrapClosure` accepts. Decoded at
 * once, 100,000 nodes take 200 MiB: nodes are decoded one by one on iteration, the rest here.
 *
 * @param reference the field with the URI, for errors.
 * @throws WorkflowFormatError when the bytes are no closure; for a node, when it is iterated.
 */
export function streamClosure(blob: Uint8Array, reference: Field): StreamedClosure {
  const bytes = decodeOrFormatError(reference, () => unwrapClosure(blob));
  return { closure: decodeOrFormatError(reference, () => decodeWithoutNodes(bytes)), nodes: streamNodes(bytes, reference) };
}

/** Decodes a compiled closure without the nodes of its own graph. */
export function decodeWithoutNodes(bytes: Uint8Array): CompiledWorkflowClosure {
  const withoutNodes = mapField(bytes, PRIMARY_FIELD, (primary) =>
    mapField(primary, TEMPLATE_FIELD, (template) => mapField(template, NODES_FIELD, () => undefined)),
  );
  return fromBinary(CompiledWorkflowClosureSchema, withoutNodes);
}

function* streamNodes(bytes: Uint8Array, reference: Field): Generator<Node> {
  for (const primary of fieldValues(bytes, PRIMARY_FIELD))
    for (const template of fieldValues(primary, TEMPLATE_FIELD))
      for (const node of fieldValues(template, NODES_FIELD)) yield decodeOrFormatError(reference, () => fromBinary(NodeSchema, node));
}

function decodeOrFormatError<T>(reference: Field, decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw reference.error(`the blob is not a ${CompiledWorkflowClosureSchema.typeName}: ${reason}`, { cause });
  }
}
