import type { DifferenceClass } from "./difference-classes.js";
import { differences, type Step } from "./differences.js";
import type { RunDifference, RunRecord } from "./engine-record.js";

/** A wrong leaf that a class accepted. */
export interface TakenForRight {
  readonly path: string;
  readonly class: string;
  readonly planted: unknown;
}

/**
 * Replaces each leaf of our record by a wrong value in turn, then removes each leaf in turn.
 * Returns what a class covers nevertheless: such a class is broader than its reason.
 */
export function takenForRight(theirs: RunRecord, ours: RunRecord, classes: readonly DifferenceClass<RunDifference>[]): TakenForRight[] {
  const before = new Map(differences(theirs, ours).map(({ path, here }) => [path, JSON.stringify(here)]));
  return leaves(ours).flatMap(({ at, value }) =>
    wrong(value).flatMap((planted): TakenForRight[] => {
      const changed = withLeaf(ours, at, planted) as RunRecord;
      const found = differences(theirs, changed).map((each): RunDifference => ({ ...each, theirs, ours: changed }));
      if (found.some((each) => !classes.some(({ covers }) => covers(each)))) return [];
      const leaf = found.find(({ path, here }) => before.get(path) !== JSON.stringify(here));
      const name = leaf === undefined ? undefined : classes.find(({ covers }) => covers(leaf))?.name;
      return leaf === undefined || name === undefined ? [] : [{ path: leaf.path, class: name, planted }];
    }),
  );
}

/** Represents a removed leaf. */
const GONE = undefined;

function wrong(value: unknown): unknown[] {
  if (typeof value === "number") return [value + 1, GONE];
  if (typeof value === "boolean") return [!value, GONE];
  if (Array.isArray(value)) return [["planted"], GONE];
  return [value === null || typeof value === "string" ? "planted" : { planted: true }, GONE];
}

interface Leaf {
  readonly at: readonly Step[];
  readonly value: unknown;
}

function leaves(value: unknown, at: readonly Step[] = []): Leaf[] {
  if (value === null || typeof value !== "object" || Object.keys(value).length === 0) return [{ at, value }];
  const entries: [Step, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.filter(([key]) => key !== "lab" && key !== "soft").flatMap(([key, item]) => leaves(item, [...at, key]));
}

function withLeaf(value: unknown, [step, ...rest]: readonly Step[], planted: unknown): unknown {
  if (step === undefined) return planted;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => (index === step ? withLeaf(item, rest, planted) : item));
    return items.filter((item, index) => index !== step || item !== GONE);
  }
  const changed = { ...(value as Record<string, unknown>), [step]: withLeaf((value as Record<string, unknown>)[step], rest, planted) };
  return Object.fromEntries(Object.entries(changed).filter(([, item]) => item !== GONE));
}
