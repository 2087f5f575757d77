import { type LiteralType, SimpleType, type UnionType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import { sameJson, schemaCovers } from "./json-schema.js";
import { MAX_NESTING } from "./nesting.js";
import { isNoneType } from "./simple.js";
import { datasetAccepts, schemaAccepts } from "./table.js";

/**
 * Maximum number of comparisons of two types per question. Unions of unions multiply; no real type
 * needs more.
 */
const MAX_COMPARISONS = 2_000_000;

/**
 * State of one question: the comparisons left and the answers found, so that nested unions are
 * compared once per pair.
 */
export interface CastContext {
  comparisons: number;
  readonly known: Map<LiteralType, Map<LiteralType, boolean>>;
}

export function newCastContext(): CastContext {
  return { comparisons: MAX_COMPARISONS, known: new Map() };
}

/**
 * True when a value of type `upstream` may be given where `downstream` is expected. Nothing is
 * promoted (no int to float); an enum and a string are interchangeable; every variant of an
 * upstream union must fit, a plain type must fit exactly one variant of a downstream union. Types
 * nested deeper than MAX_NESTING fit nothing.
 */
export function isCastable(upstream: LiteralType, downstream: LiteralType): boolean {
  return isCastableWithin(upstream, downstream, newCastContext());
}

/** Like {@link isCastable}, within a larger question that shares its known answers. */
export function isCastableWithin(upstream: LiteralType, downstream: LiteralType, context: CastContext, depth = 0): boolean {
  const known = context.known.get(upstream)?.get(downstream);
  if (known !== undefined) return known;
  if (depth > MAX_NESTING || --context.comparisons < 0) return false;
  const only = singleVariant(upstream);
  const fits = (only !== undefined && accepts(downstream, only, context, depth)) || accepts(downstream, upstream, context, depth);
  if (upstream.type.case === "unionType" || downstream.type.case === "unionType") {
    const answers = context.known.get(upstream) ?? new Map<LiteralType, boolean>();
    context.known.set(upstream, answers.set(downstream, fits));
  }
  return fits;
}

function accepts(downstream: LiteralType, upstream: LiteralType, context: CastContext, depth: number): boolean {
  const expected = downstream.type;
  const given = upstream.type;
  if (depth > MAX_NESTING) return false;
  switch (expected.case) {
    case "collectionType":
    case "mapValueType":
      // The element type of an empty list or map is None, and an empty one fits anywhere.
      return given.case === expected.case && (isNoneType(given.value) || accepts(expected.value, given.value, context, depth + 1));
    case "blob":
      return (
        given.case === "blob" && (given.value.format === "" || expected.value.format === "" || given.value.format === expected.value.format)
      );
    case "schema":
      return schemaAccepts(expected.value, given);
    case "structuredDatasetType":
      return isNoneType(upstream) || datasetAccepts(expected.value, given, (u, d) => accepts(d, u, context, depth + 1));
    case "unionType":
      return unionAccepts(expected.value, upstream, context, depth);
    case "simple":
      return expected.value === SimpleType.NONE ? isNoneType(upstream) : plainAccepts(downstream, upstream);
    case "enumType":
    case undefined:
      return plainAccepts(downstream, upstream);
  }
}

function unionAccepts(union: UnionType, upstream: LiteralType, context: CastContext, depth: number): boolean {
  if (upstream.type.case === "unionType") {
    const fits = (u: LiteralType, d: LiteralType | undefined): boolean => d !== undefined && isCastableWithin(u, d, context, depth + 1);
    // Unions are usually given to themselves, so the variant at the same index is tried first.
    return upstream.type.value.variants.every((u, i) => fits(u, union.variants[i]) || union.variants.some((d) => fits(u, d)));
  }
  let found = 0;
  for (const variant of union.variants) {
    if (isCastableWithin(upstream, variant, context, depth + 1) && ++found > 1) return false;
  }
  return found === 1;
}

/** Compares types without structure: they are alike or not, whatever their metadata. */
function plainAccepts(downstream: LiteralType, upstream: LiteralType): boolean {
  const expected = downstream.type;
  const given = upstream.type;
  if (given.case === "enumType" && expected.case === "simple" && expected.value === SimpleType.STRING) return true;
  if (expected.case === "enumType" && given.case === "simple" && given.value === SimpleType.STRING) return true;
  const tag = upstream.structure?.tag ?? "";
  if (tag !== "" && tag !== downstream.structure?.tag) return false;
  if (given.case === "simple" && expected.case === "simple") {
    return given.value === expected.value && (given.value !== SimpleType.STRUCT || structsFit(upstream, downstream));
  }
  if (given.case === "enumType" && expected.case === "enumType") {
    const values = expected.value.values;
    return given.value.values.length === values.length && given.value.values.every((value, i) => value === values[i]);
  }
  return given.case === undefined && expected.case === undefined;
}

/** The metadata of a STRUCT is its JSON schema; older clients sent none, and then it fits any. */
function structsFit(upstream: LiteralType, downstream: LiteralType): boolean {
  if (upstream.metadata === undefined || downstream.metadata === undefined) return true;
  return sameJson(upstream.metadata, downstream.metadata) || schemaCovers(upstream.metadata, downstream.metadata);
}

function singleVariant(type: LiteralType): LiteralType | undefined {
  return type.type.case === "unionType" && type.type.value.variants.length === 1 ? type.type.value.variants[0] : undefined;
}
