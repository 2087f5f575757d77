import type { Queryable } from "@flyte-ts/postgres";
import { Gauge, type Metrics } from "@flyte-ts/telemetry";

const ACTIONS = ["launch", "abort"] as const;

/** What waits to be told to the data planes; read when Prometheus asks. */
export function outboxMetrics(registry: Metrics, db: Queryable): void {
  new Gauge({
    name: "flyte_admin_outbox_entries",
    help: "Launches and aborts that the data planes have not been told, by action.",
    labelNames: ["action"],
    registers: [registry],
    async collect() {
      const waiting = await readOutbox(db);
      for (const action of ACTIONS) this.set({ action }, waiting?.get(action)?.entries ?? 0);
    },
  });
  new Gauge({
    name: "flyte_admin_outbox_age_seconds",
    help: "How long the oldest of them has waited, by action.",
    labelNames: ["action"],
    registers: [registry],
    async collect() {
      const waiting = await readOutbox(db);
      for (const action of ACTIONS) this.set({ action }, waiting?.get(action)?.age ?? 0);
    },
  });
}

interface Waiting {
  readonly action: string;
  readonly entries: number;
  readonly age: number;
}

/** Undefined without the database, whose own probe tells that it is away. */
async function readOutbox(db: Queryable): Promise<ReadonlyMap<string, Waiting> | undefined> {
  try {
    const { rows } = await db.query<Waiting>({
      name: "outbox-depth",
      text: `SELECT action, count(*)::int AS entries, extract(epoch FROM now() - min(created_at))::float8 AS age
        FROM execution_outbox GROUP BY action`,
      values: [],
    });
    return new Map(rows.map((row) => [row.action, row]));
  } catch {
    return undefined;
  }
}
