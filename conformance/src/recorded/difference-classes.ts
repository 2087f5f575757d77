/**
 * A kind of difference from the records that is right. The rule is the whole of it: a case that was never seen falls under the class
 * when the rule covers its difference, and no case is named.
 */
export interface DifferenceClass<Found> {
  readonly name: string;
  /** Why the difference is right. */
  readonly reason: string;
  /** Holds for nothing but what the reason explains: another value at the same place is not covered. */
  readonly covers: (found: Found) => boolean;
}

/** How often a class was met. */
export interface Meetings {
  readonly name: string;
  readonly cases: readonly string[];
  readonly differences: number;
}

/** Sorts what differs into classes, case by case, and counts. */
export class Classification<Found> {
  readonly #met = new Map<string, { readonly cases: Set<string>; differences: number }>();

  constructor(readonly classes: readonly DifferenceClass<Found>[]) {
    const names = classes.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`two classes are called ${twice}`);
  }

  /** Counts what differs in a case, and answers what no class covers. */
  add(name: string, found: readonly Found[]): Found[] {
    return found.filter((each) => {
      const covering = this.classOf(each);
      if (covering === undefined) return true;
      const met = this.#met.get(covering.name) ?? { cases: new Set(), differences: 0 };
      met.cases.add(name);
      met.differences++;
      this.#met.set(covering.name, met);
      return false;
    });
  }

  /** The first class that covers it. */
  classOf(found: Found): DifferenceClass<Found> | undefined {
    return this.classes.find(({ covers }) => covers(found));
  }

  /** Every class, met or not. */
  meetings(): Meetings[] {
    return this.classes.map(({ name }) => {
      const met = this.#met.get(name);
      return { name, cases: [...(met?.cases ?? [])], differences: met?.differences ?? 0 };
    });
  }
}

/** Lines that say how often each class was met, and which was met by no case. */
export function report(meetings: readonly Meetings[]): string[] {
  return meetings.map(({ name, cases, differences }) =>
    differences === 0
      ? `class ${name}: met by no case`
      : `class ${name}: ${differences} ${differences === 1 ? "difference" : "differences"} in ${cases.length} ${cases.length === 1 ? "case" : "cases"}`,
  );
}
