import { type Json, at, isObject } from "../../object/model.js";

const STEP = /\.?([\w-]+)|\['([^']+)'\]|\[(\d+|\*)\]|\[\?\(@\.([\w.-]+)\s*==\s*["']([^"']*)["']\)\]|\.(?=\[)/y;

/**
 * Evaluates the simple JSON paths of printer columns: `.a.b`, `['a']`, `[0]`, `[*]`,
 * `[?(@.type=="Ready")]`.
 */
export function jsonPath(value: Json, path: string): Json | undefined {
  let current: Json | undefined = value;
  STEP.lastIndex = 0;
  while (STEP.lastIndex < path.length) {
    const step = STEP.exec(path);
    if (step === null) return undefined;
    const [, word, quoted, index, field, wanted] = step;
    const key = word ?? quoted;
    if (key !== undefined) current = isObject(current) ? current[key] : undefined;
    else if (index !== undefined)
      current = Array.isArray(current) ? (current as readonly Json[])[index === "*" ? 0 : Number(index)] : undefined;
    else if (field !== undefined)
      current = Array.isArray(current) ? (current as readonly Json[]).find((item) => at(item, ...field.split(".")) === wanted) : undefined;
  }
  return current;
}
