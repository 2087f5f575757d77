import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { MAX_NESTING } from "./nesting.js";

/** True when two JSON values are equal, regardless of the order of their keys. */
export function sameJson(a: JsonValue, b: JsonValue, depth = 0): boolean {
  if (a === b) return true;
  if (depth > MAX_NESTING) return false;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, i) => sameJson(item, b[i] as JsonValue, depth + 1));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && sameJson(a[key] as JsonValue, b[key] as JsonValue, depth + 1));
}

/**
 * True when values of the upstream schema are readable with the downstream one: a child class given
 * for its parent, a data class with more fields for one with fewer. Types must agree, every
 * downstream property and requirement must exist upstream, and limits set downstream must be at
 * least as tight upstream. Keywords that no client writes (`not`, `patternProperties`,
 * `dependencies`, `if`) and `additionalProperties` are ignored. A dangling reference fits nothing;
 * a schema may refer to itself.
 */
export function schemaCovers(upstream: JsonObject, downstream: JsonObject): boolean {
  return covers({ upstream, downstream, comparisons: MAX_COMPARISONS, verdicts: new Map(), trail: [] }, upstream, downstream, 0);
}

const MAX_COMPARISONS = 100_000;

interface Roots {
  readonly upstream: JsonObject;
  readonly downstream: JsonObject;
  /** Comparisons left; a schema that needs more than MAX_COMPARISONS covers nothing. */
  comparisons: number;
  /** A pair under comparison counts as covered, so that schemas may refer to themselves. */
  readonly verdicts: Map<JsonObject, Map<JsonObject, boolean>>;
  /**
   * Pairs found covered, oldest first: those found under an assumption that fails are dropped with
   * it.
   */
  readonly trail: (readonly [JsonObject, JsonObject])[];
}

function covers(roots: Roots, up: JsonValue | undefined, down: JsonValue | undefined, depth: number): boolean {
  const u = dereference(roots.upstream, up);
  const d = dereference(roots.downstream, down);
  if (!isObject(u) || !isObject(d)) return u !== undefined && u === d;
  const known = roots.verdicts.get(u)?.get(d);
  if (known !== undefined) return known;
  if (depth > MAX_NESTING || --roots.comparisons < 0) return false;
  const mark = roots.trail.length;
  record(roots, u, d, true);
  const pair = { u, d, depth };
  const result =
    typesAgree(u, d) &&
    stringFits(u, d) &&
    limitsFit(u, d) &&
    constantFits(u, d) &&
    requirementsFit(u, d) &&
    propertiesFit(roots, pair) &&
    itemsFit(roots, pair) &&
    ["allOf", "anyOf", "oneOf"].every((keyword) => alternativesFit(roots, pair, keyword));
  if (!result) {
    for (const [a, b] of roots.trail.splice(mark)) roots.verdicts.get(a)?.delete(b);
    record(roots, u, d, false);
  }
  return result;
}

function record(roots: Roots, u: JsonObject, d: JsonObject, covered: boolean): void {
  const verdicts = roots.verdicts.get(u) ?? new Map<JsonObject, boolean>();
  roots.verdicts.set(u, verdicts.set(d, covered));
  if (covered) roots.trail.push([u, d]);
}

interface Pair {
  readonly u: JsonObject;
  readonly d: JsonObject;
  readonly depth: number;
}

function typesAgree(u: JsonObject, d: JsonObject): boolean {
  const [given, expected] = [typesOf(u), typesOf(d)];
  if (expected.size === 0 && given.size === 1 && given.has("object")) return true;
  return given.size === expected.size && [...given].every((type) => expected.has(type));
}

function stringFits(u: JsonObject, d: JsonObject): boolean {
  if (!typesOf(d).has("string")) return true;
  if (u["format"] !== d["format"]) return false;
  if (d["pattern"] !== undefined && u["pattern"] !== d["pattern"]) return false;
  const [given, allowed] = [u["enum"], d["enum"]];
  return !Array.isArray(allowed) || !Array.isArray(given) || given.every((value) => allowed.includes(value));
}

const lowerLimits = { string: ["minLength"], number: ["minimum"], array: ["minItems"], object: ["minProperties"] } as const;
const upperLimits = { string: ["maxLength"], number: ["maximum"], array: ["maxItems"], object: ["maxProperties"] } as const;

function limitsFit(u: JsonObject, d: JsonObject): boolean {
  const types = typesOf(d);
  for (const type of ["string", "number", "array", "object"] as const) {
    if (!types.has(type)) continue;
    const low = lowerLimits[type].every((limit) => withinLimit(u[limit], d[limit], (given, set) => given >= set));
    const high = upperLimits[type].every((limit) => withinLimit(u[limit], d[limit], (given, set) => given <= set));
    if (!low || !high) return false;
  }
  return !(types.has("array") && d["uniqueItems"] === true && u["uniqueItems"] !== true);
}

function withinLimit(given: JsonValue | undefined, set: JsonValue | undefined, within: (given: number, set: number) => boolean): boolean {
  return typeof set !== "number" || (typeof given === "number" && within(given, set));
}

function constantFits(u: JsonObject, d: JsonObject): boolean {
  return d["const"] === undefined || (u["const"] !== undefined && sameJson(u["const"], d["const"]));
}

function requirementsFit(u: JsonObject, d: JsonObject): boolean {
  const given = u["required"];
  const required = d["required"];
  if (!Array.isArray(required)) return true;
  const names = new Set(Array.isArray(given) ? given : []);
  return required.every((name) => names.has(name));
}

function propertiesFit(roots: Roots, { u, d, depth }: Pair): boolean {
  const [given, expected] = [u["properties"], d["properties"]];
  if (!isObject(expected)) return true;
  return Object.keys(expected).every(
    (name) => isObject(given) && Object.hasOwn(given, name) && covers(roots, given[name], expected[name], depth + 1),
  );
}

function itemsFit(roots: Roots, { u, d, depth }: Pair): boolean {
  const [given, expected] = [u["items"], d["items"]];
  if (expected === undefined) return true;
  if (Array.isArray(expected)) {
    return (
      Array.isArray(given) && given.length === expected.length && given.every((item, i) => covers(roots, item, expected[i], depth + 1))
    );
  }
  return given !== undefined && !Array.isArray(given) && covers(roots, given, expected, depth + 1);
}

/**
 * True when both sides list alternatives or neither does, and each alternative of upstream is
 * covered by one of downstream.
 */
function alternativesFit(roots: Roots, { u, d, depth }: Pair, keyword: string): boolean {
  const given = listOf(u[keyword]);
  const expected = listOf(d[keyword]);
  if ((given.length === 0) !== (expected.length === 0)) return false;
  return given.every((g) => expected.some((e) => covers(roots, g, e, depth + 1)));
}

function typesOf(schema: JsonObject): ReadonlySet<JsonValue> {
  const type = schema["type"];
  return new Set(type === undefined ? [] : Array.isArray(type) ? type : [type]);
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Follows `$ref` within one document (`#/$defs/Name`, `#/definitions/Name`); undefined when it is
 * dangling or circular.
 */
function dereference(root: JsonObject, schema: JsonValue | undefined): JsonValue | undefined {
  let found = schema;
  for (let hops = 0; hops < MAX_NESTING; hops++) {
    if (!isObject(found) || typeof found["$ref"] !== "string") return found;
    found = atPointer(root, found["$ref"]);
  }
  return undefined;
}

function atPointer(root: JsonObject, reference: string): JsonValue | undefined {
  if (!reference.startsWith("#")) return undefined;
  let found: JsonValue | undefined = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    if (Array.isArray(found)) found = found[Number(key)];
    else found = isObject(found) && Object.hasOwn(found, key) ? found[key] : undefined;
  }
  return found;
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
