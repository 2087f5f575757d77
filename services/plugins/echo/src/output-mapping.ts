import { equals } from "@bufbuild/protobuf";
import type { TypedInterface, Variable } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { type LiteralType, LiteralTypeSchema } from "@flyte-ts/idl/flyteidl/core/types_pb";

/**
 * Maps each output to the input that it repeats. First each output takes the input of its own name
 * and type. The other outputs, in the order of their numbers (o2 before o10), each take the first
 * unused input of the same type, by name. Undefined when inputs and outputs do not match.
 */
export function outputMapping(iface: TypedInterface | undefined): ReadonlyMap<string, string> | undefined {
  const inputs = iface?.inputs?.variables ?? {};
  const outputs = iface?.outputs?.variables ?? {};
  const unassigned = new Set(Object.keys(inputs).sort());
  const names = Object.keys(outputs).sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  if (unassigned.size !== names.length) return undefined;
  const mapping = new Map<string, string>();
  for (const name of names) {
    if (unassigned.has(name) && sameType(inputs[name], outputs[name])) assign(name, name);
  }
  for (const name of names) {
    if (mapping.has(name)) continue;
    const input = [...unassigned].find((candidate) => sameType(inputs[candidate], outputs[name]));
    if (input === undefined) return undefined;
    assign(name, input);
  }
  return mapping;

  function assign(output: string, input: string): void {
    mapping.set(output, input);
    unassigned.delete(input);
  }
}

function sameType(a: Variable | undefined, b: Variable | undefined): boolean {
  const [one, other] = [a?.type, b?.type];
  if (one === undefined || other === undefined) return one === other;
  return equals(LiteralTypeSchema, withoutMetadata(one), withoutMetadata(other));
}

/** Returns the type without the author's annotations. */
function withoutMetadata(type: LiteralType): LiteralType {
  return { ...type, metadata: undefined, annotation: undefined };
}
