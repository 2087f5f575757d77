import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { fieldValues } from "./encoded-fields.js";

/** Number of `flyteidl.admin.WorkflowClosure.compiled_workflow`. */
const COMPILED_WORKFLOW = 1;

/**
 * Encodes the blob that `workflowClosureReference` names: a `flyteidl.admin.WorkflowClosure`, which
 * Go FlyteAdmin writes and Go FlytePropeller reads.
 *
 * @param compiled the bytes of a `flyteidl.core.CompiledWorkflowClosure`.
 */
export function wrapClosure(compiled: Uint8Array): Uint8Array<ArrayBuffer> {
  return new BinaryWriter().tag(COMPILED_WORKFLOW, WireType.LengthDelimited).bytes(compiled).finish();
}

/**
 * Returns the bytes of the `flyteidl.core.CompiledWorkflowClosure` in a closure blob. The blob is a
 * `flyteidl.admin.WorkflowClosure`, or, as earlier versions of flyte-ts wrote it, the compiled
 * closure itself.
 *
 * @throws Error when the bytes are not a protobuf message.
 */
export function unwrapClosure(blob: Uint8Array): Uint8Array {
  if (!isWrappedClosure(blob)) return blob;
  const closures = [...fieldValues(blob, COMPILED_WORKFLOW)];
  // Concatenated encodings of a message are the encoding of the merged message.
  return closures.length === 1 && closures[0] !== undefined ? closures[0] : Buffer.concat(closures);
}

/**
 * Distinguishes the two forms by the field 1.1.1.1: in a wrapped closure it is the workflow's
 * identifier (a message), in a bare one the identifier's resource type (a varint).
 */
export function isWrappedClosure(blob: Uint8Array): boolean {
  let message: Uint8Array | undefined = blob;
  for (let depth = 0; depth < 4 && message !== undefined; depth++) message = firstMessage(message);
  return message !== undefined;
}

function firstMessage(message: Uint8Array): Uint8Array | undefined {
  return fieldValues(message, 1).next().value ?? undefined;
}
