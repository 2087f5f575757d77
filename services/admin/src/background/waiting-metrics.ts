import type { Query, Queryable } from "@flyte-ts/postgres";
import { Gauge, type Metrics } from "@flyte-ts/telemetry";

interface Told {
  readonly name: string;
  readonly help: string;
}

export interface WaitingMetrics<Label extends string> {
  /** Returns rows with `kind`, `entries` (number of pending rows) and `age` (seconds since the oldest was enqueued). */
  readonly query: Query;
  readonly label: Label;
  /** Kinds that are exported even when nothing is pending, with 0. */
  readonly kinds: readonly string[];
  readonly entries: Told;
  readonly age: Told;
}

interface Waiting {
  readonly kind: string;
  readonly entries: number;
  readonly age: number;
}

/** Gauges of the pending rows of a queue table by kind; a scrape runs one query for both. */
export function waitingMetrics<Label extends string>(
  registry: Metrics,
  db: Queryable,
  { query, label, kinds, entries, age }: WaitingMetrics<Label>,
): void {
  let reading: Promise<ReadonlyMap<string, Waiting>> | undefined;
  const readNow = async (): Promise<ReadonlyMap<string, Waiting>> => {
    // Reports nothing as pending while the database is unavailable, which has its own probe.
    const found = await db.query<Waiting>(query).catch(() => undefined);
    reading = undefined;
    return new Map(found?.rows.map((row) => [row.kind, row]));
  };
  const gauge = (told: Told, value: "entries" | "age"): void => {
    new Gauge<Label>({
      ...told,
      labelNames: [label],
      registers: [registry],
      async collect() {
        const waiting = await (reading ??= readNow());
        for (const kind of kinds) this.set({ [label]: kind } as Record<Label, string>, waiting.get(kind)?.[value] ?? 0);
      },
    });
  };
  gauge(entries, "entries");
  gauge(age, "age");
}
