import type { CompileError } from "./error/compile-error.js";
import { invalidValue } from "./error/errors.js";

/**
 * How many plain objects, deep, a template may hold in one another. A list type takes two of them and a nested branch five, and
 * clients cannot send more than 100 messages deep; the limit lets the rest of the compiler recurse without care.
 */
export const MAX_OBJECT_NESTING = 1000;

export function tooDeep(): CompileError {
  return invalidValue("root", "template", `nests its types, bindings or branches deeper than ${MAX_OBJECT_NESTING} levels`);
}
