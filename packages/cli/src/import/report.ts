/** Result for one entity. */
export type Outcome = "imported" | "there" | "skipped";

export interface SkippedEntity {
  readonly kind: string;
  /** `project/domain/name/version`, as far as it has them. */
  readonly what: string;
  readonly why: string;
}

/** Counts the results of an import, by kind. */
export class ImportReport {
  readonly #counts = new Map<string, Record<Outcome, number>>();
  readonly skipped: SkippedEntity[] = [];

  record(kind: string, outcome: Exclude<Outcome, "skipped">): void {
    this.#countsOf(kind)[outcome]++;
  }

  skip(skipped: SkippedEntity): void {
    this.#countsOf(skipped.kind).skipped++;
    this.skipped.push(skipped);
  }

  count(kind: string): Readonly<Record<Outcome, number>> {
    return { ...this.#countsOf(kind) };
  }

  toJSON(): object {
    return { counts: Object.fromEntries(this.#counts), skipped: this.skipped };
  }

  /** Formats the report: a line for each kind, then skipped entities with reasons. */
  text(): string {
    const rows = [["", "imported", "already there", "skipped"]];
    for (const [kind, { imported, there, skipped }] of this.#counts) rows.push([kind, `${imported}`, `${there}`, `${skipped}`]);
    const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
    const table = rows.map((row) =>
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join("  "),
    );
    const left = this.skipped.map(({ kind, what, why }) => `skipped ${kind} ${what}: ${why}`);
    return `${[...table, ...left].join("\n")}\n`;
  }

  #countsOf(kind: string): Record<Outcome, number> {
    const counts = this.#counts.get(kind) ?? { imported: 0, there: 0, skipped: 0 };
    this.#counts.set(kind, counts);
    return counts;
  }
}
