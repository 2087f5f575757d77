import type { DifferenceClass } from "../difference-classes.js";
import { differences, type PathStep } from "../differences.js";
import type { RunDifference, RunRecord } from "./run-record.js";

/** A wrong leaf that a class accepted. */
export interface AcceptedPlant {
  readonly path: string;
  readonly class: string;
  readonly planted: unknown;
}

/**
 * Replaces each leaf of our record by a wrong value in turn, then removes each leaf in turn.
 * Returns what a class covers nevertheless: such a class is broader than its reason.
 */
export function findAcceptedPlants(
  theirs: RunRecord,
  ours: RunRecord,
  classes: readonly DifferenceClass<RunDifference>[],
): AcceptedPlant[] {
  const before = new Map(differences(theirs, ours).map(({ path, observed }) => [path, JSON.stringify(observed)]));
  return leaves(ours).flatMap(({ at, value }) =>
    wrongValue(value).flatMap((planted): AcceptedPlant[] => {
      const changed = withLeaf(ours, at, planted) as RunRecord;
      const found = differences(theirs, changed).map((each): RunDifference => ({ ...each, theirs, ours: changed }));
      if (found.some((each) => !classes.some(({ covers }) => covers(each)))) return [];
      const leaf = found.find(({ path, observed }) => before.get(path) !== JSON.stringify(observed));
      const name = leaf === undefined ? undefined : classes.find(({ covers }) => covers(leaf))?.name;
      return leaf === undefined || name === undefined ? [] : [{ path: leaf.path, class: name, planted }];
    }),
  );
}

/** Represents a removed leaf. */
const REMOVED = undefined;

function wrongValue(value: unknown): unknown[] {
  if (typeof value === "number") return [value + 1, REMOVED];
  if (typeof value === "boolean") return [!value, REMOVED];
  if (Array.isArray(value)) return [["planted"], REMOVED];
  return [value === null || typeof value === "string" ? "planted" : { planted: true }, REMOVED];
}

interface Leaf {
  readonly at: readonly PathStep[];
  readonly value: unknown;
}

function leaves(value: unknown, at: readonly PathStep[] = []): Leaf[] {
  if (value === null || typeof value !== "object" || Object.keys(value).length === 0) return [{ at, value }];
  const entries: [PathStep, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return entries.filter(([key]) => key !== "lab" && key !== "soft").flatMap(([key, item]) => leaves(item, [...at, key]));
}

function withLeaf(value: unknown, [step, ...rest]: readonly PathStep[], planted: unknown): unknown {
  if (step === undefined) return planted;
  if (Array.isArray(value)) {
    const items = value.map((item, index) => (index === step ? withLeaf(item, rest, planted) : item));
    return items.filter((item, index) => index !== step || item !== REMOVED);
  }
  const changed = { ...(value as Record<string, unknown>), [step]: withLeaf((value as Record<string, unknown>)[step], rest, planted) };
  return Object.fromEntries(Object.entries(changed).filter(([, item]) => item !== REMOVED));
}
