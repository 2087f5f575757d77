import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createPool, type Database } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { parse } from "yaml";
import type { RunningStack } from "../../stack/stack-fixture.js";
import type { Row } from "./evidence.js";

interface FoundRow {
  readonly id: string;
  readonly phase: string;
  readonly started_ns: bigint | null;
  readonly ended_ns: bigint | null;
}

/** A child execution with the execution that started it. */
export interface ChildRow {
  readonly name: string;
  readonly parent: string;
}

/** Reads the rows of one round's executions, which share a name prefix, and of their children. */
export class DatabaseEvidence {
  readonly #db: Database;

  constructor({ folder }: RunningStack) {
    const { database } = parse(readFileSync(join(folder, "config", "admin.yaml"), "utf8")) as { database: { url: string } };
    this.#db = createPool({ url: database.url, maxConnections: 2, logger: createLogger({ service: "test", level: "silent" }) });
  }

  async rows(prefix: string): Promise<Row[]> {
    const { rows } = await this.#db.query<FoundRow>({
      text: `${ROUND}
        SELECT name AS id, phase, started_ns, ended_ns FROM round
        UNION ALL
        SELECT round.name || '/' || n.node_id, n.phase, n.started_ns, n.ended_ns FROM round JOIN node_executions n ON n.execution_id = round.id
        UNION ALL
        SELECT round.name || '/' || t.node_id || '/' || t.retry_attempt, t.phase, t.started_ns, t.ended_ns
        FROM round JOIN task_executions t ON t.execution_id = round.id`,
      values: [`${prefix}%`],
    });
    return rows.map((row) => ({
      id: row.id,
      phase: row.phase,
      startedNs: row.started_ns ?? undefined,
      endedNs: row.ended_ns ?? undefined,
    }));
  }

  async children(prefix: string): Promise<ChildRow[]> {
    const { rows } = await this.#db.query<{ name: string; parent: string }>({
      text: `SELECT child.execution_name AS name, parent.execution_name AS parent
        FROM executions parent JOIN executions child ON child.parent_execution_id = parent.id
        WHERE parent.execution_name LIKE $1`,
      values: [`${prefix}%`],
    });
    return [...rows];
  }

  close(): Promise<void> {
    return this.#db.close();
  }
}

const ROUND = `WITH named AS (SELECT * FROM executions WHERE execution_name LIKE $1), round AS (
    SELECT id, execution_name AS name, phase, started_ns, ended_ns FROM named
    UNION
    SELECT child.id, child.execution_name, child.phase, child.started_ns, child.ended_ns
    FROM named JOIN executions child ON child.parent_execution_id = named.id
  )`;
