import type { Query, Queryable } from "@flyte-ts/postgres";
import { Gauge, type Metrics } from "@flyte-ts/telemetry";

interface Told {
  readonly name: string;
  readonly help: string;
}

export interface WaitingMetrics<Label extends string> {
  /** Rows of `kind`, `entries` (how many wait) and `age` (how long the oldest of them has waited, seconds). */
  readonly query: Query;
  readonly label: Label;
  /** Told with 0 where nothing waits. */
  readonly kinds: readonly string[];
  readonly entries: Told;
  readonly age: Told;
}

interface Waiting {
  readonly kind: string;
  readonly entries: number;
  readonly age: number;
}

/** What waits in a table of work, by kind; read when Prometheus asks, once for both. */
export function waitingMetrics<Label extends string>(
  registry: Metrics,
  db: Queryable,
  { query, label, kinds, entries, age }: WaitingMetrics<Label>,
): void {
  let reading: Promise<ReadonlyMap<string, Waiting>> | undefined;
  const readNow = async (): Promise<ReadonlyMap<string, Waiting>> => {
    // Without the database, whose own probe tells that it is away, nothing is known to wait.
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
