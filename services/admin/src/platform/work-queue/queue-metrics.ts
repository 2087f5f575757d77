import type { Query, Queryable } from "@flyte-ts/postgres";
import { Gauge, type Metrics } from "@flyte-ts/telemetry";

interface GaugeSpec {
  readonly name: string;
  readonly help: string;
}

export interface QueueGauges<Label extends string> {
  /**
   * Returns rows with `kind`, `entries` (number of pending rows) and `age` (seconds since the
   * oldest was enqueued).
   */
  readonly query: Query;
  readonly label: Label;
  /** Kinds that are exported even when nothing is pending, with 0. */
  readonly kinds: readonly string[];
  readonly entries: GaugeSpec;
  readonly age: GaugeSpec;
}

interface PendingWork {
  readonly kind: string;
  readonly entries: number;
  readonly age: number;
}

/** Gauges of the pending rows of a queue table by kind; a scrape runs one query for both. */
export function registerQueueGauges<Label extends string>(
  registry: Metrics,
  db: Queryable,
  { query, label, kinds, entries, age }: QueueGauges<Label>,
): void {
  let reading: Promise<ReadonlyMap<string, PendingWork>> | undefined;
  const readNow = async (): Promise<ReadonlyMap<string, PendingWork>> => {
    // Reports nothing as pending while the database is unavailable, which has its own probe.
    const found = await db.query<PendingWork>(query).catch(() => undefined);
    reading = undefined;
    return new Map(found?.rows.map((row) => [row.kind, row]));
  };
  const gauge = (spec: GaugeSpec, value: "entries" | "age"): void => {
    new Gauge<Label>({
      ...spec,
      labelNames: [label],
      registers: [registry],
      async collect() {
        const pending = await (reading ??= readNow());
        for (const kind of kinds) this.set({ [label]: kind } as Record<Label, string>, pending.get(kind)?.[value] ?? 0);
      },
    });
  };
  gauge(entries, "entries");
  gauge(age, "age");
}
