/**
 * An accepted kind of difference from the records. Its rule also covers cases that were never
 * recorded, so it names no case.
 */
export interface DifferenceClass<Found> {
  readonly name: string;
  /** Reason why the difference is correct. */
  readonly reason: string;
  /**
   * Reports whether the reason explains the difference; another value at the same path is not
   * covered.
   */
  readonly covers: (found: Found) => boolean;
}

/** How many differences a class covered. */
export interface ClassUsage {
  readonly name: string;
  readonly cases: readonly string[];
  readonly differences: number;
}

/** Assigns differences to classes case by case, and counts them. */
export class Classification<Found> {
  readonly #usage = new Map<string, { readonly cases: Set<string>; differences: number }>();

  constructor(readonly classes: readonly DifferenceClass<Found>[]) {
    const names = classes.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`two classes are called ${twice}`);
  }

  /** Counts the differences of a case. Returns those that no class covers. */
  add(name: string, found: readonly Found[]): Found[] {
    return found.filter((each) => {
      const covering = this.classOf(each);
      if (covering === undefined) return true;
      const met = this.#usage.get(covering.name) ?? { cases: new Set(), differences: 0 };
      met.cases.add(name);
      met.differences++;
      this.#usage.set(covering.name, met);
      return false;
    });
  }

  /** Returns the first class that covers the difference. */
  classOf(found: Found): DifferenceClass<Found> | undefined {
    return this.classes.find(({ covers }) => covers(found));
  }

  /** Returns the counts of all classes, including unused ones. */
  usages(): ClassUsage[] {
    return this.classes.map(({ name }) => {
      const met = this.#usage.get(name);
      return { name, cases: [...(met?.cases ?? [])], differences: met?.differences ?? 0 };
    });
  }
}

/** Formats one line per class with its count; unused classes are marked. */
export function formatUsage(usages: readonly ClassUsage[]): string[] {
  return usages.map(({ name, cases, differences }) =>
    differences === 0
      ? `class ${name}: met by no case`
      : `class ${name}: ${differences} ${differences === 1 ? "difference" : "differences"} in ${cases.length} ${cases.length === 1 ? "case" : "cases"}`,
  );
}
