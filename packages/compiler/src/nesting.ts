import type { CompileError } from "./error/compile-error.js";
import { invalidValue } from "./error/errors.js";

/**
 * Maximum nesting of plain objects in a template. A list type takes two levels and a nested branch
 * five, and clients cannot send more than 100 nested messages; the limit lets the rest of the
 * compiler recurse safely.
 */
export const MAX_OBJECT_NESTING = 1000;

export function nestingTooDeep(): CompileError {
  return invalidValue("root", "template", `nests its types, bindings or branches deeper than ${MAX_OBJECT_NESTING} levels`);
}
