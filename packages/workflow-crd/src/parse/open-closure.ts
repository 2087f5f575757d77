import { fromBinary } from "@bufbuild/protobuf";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type CompiledWorkflowClosure, CompiledWorkflowClosureSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type Node, NodeSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { Field } from "./read.js";

/** A compiled closure, and the nodes of its own graph to be taken one by one. */
export interface OpenClosure {
  /** The graph's nodes may be missing. */
  readonly closure: CompiledWorkflowClosure;
  readonly nodes: Iterable<Node>;
}

// Numbers of fields: CompiledWorkflowClosure, CompiledWorkflow, WorkflowTemplate.
const PRIMARY = 1;
const TEMPLATE = 1;
const NODES = 4;

/**
 * Opens a closure that stands somewhere as bytes. Decoded at once, 100,000 nodes take 200 MiB: these are
 * decoded one by one as they are taken, the rest here.
 *
 * @param reference the field that names the place, for errors.
 * @throws WorkflowFormatError when the bytes are no closure; of a node when it is taken.
 */
export function openClosure(bytes: Uint8Array, reference: Field): OpenClosure {
  const withoutNodes = guarded(reference, () =>
    rewrite(bytes, PRIMARY, (primary) => rewrite(primary, TEMPLATE, (template) => rewrite(template, NODES, () => undefined))),
  );
  const closure = guarded(reference, () => fromBinary(CompiledWorkflowClosureSchema, withoutNodes));
  return { closure, nodes: nodesIn(bytes, reference) };
}

function* nodesIn(bytes: Uint8Array, reference: Field): Generator<Node> {
  for (const primary of messagesIn(bytes, PRIMARY))
    for (const template of messagesIn(primary, TEMPLATE))
      for (const node of messagesIn(template, NODES)) yield guarded(reference, () => fromBinary(NodeSchema, node));
}

/** The message with each value of one of its fields as `change` gives it; undefined leaves the value out. */
function rewrite(message: Uint8Array, field: number, change: (value: Uint8Array) => Uint8Array | undefined): Uint8Array {
  const writer = new BinaryWriter();
  for (const { number, value, whole } of fieldsOf(message)) {
    const changed = number === field && value !== undefined ? change(value) : value;
    if (changed === value) writer.raw(whole);
    else if (changed !== undefined) writer.tag(number, WireType.LengthDelimited).bytes(changed);
  }
  return writer.finish();
}

function* messagesIn(message: Uint8Array, field: number): Generator<Uint8Array> {
  for (const { number, value } of fieldsOf(message)) if (number === field && value !== undefined) yield value;
}

interface EncodedField {
  readonly number: number;
  /** Of a field with a length: a message, text, bytes. */
  readonly value: Uint8Array | undefined;
  /** With its tag. */
  readonly whole: Uint8Array;
}

function* fieldsOf(message: Uint8Array): Generator<EncodedField> {
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [number, type] = reader.tag();
    let value: Uint8Array | undefined;
    if (type === WireType.LengthDelimited) value = reader.bytes();
    else reader.skip(type, number);
    yield { number, value, whole: message.subarray(start, reader.pos) };
  }
}

function guarded<T>(reference: Field, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const problem = cause instanceof Error ? cause.message : String(cause);
    throw reference.error(`what stands there is no ${CompiledWorkflowClosureSchema.typeName}: ${problem}`, { cause });
  }
}
