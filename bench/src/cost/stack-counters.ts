import { readFileSync } from "node:fs";
import { createKubeClient } from "@flyte-ts/kubernetes";
import { FLYTE_WORKFLOW_RESOURCE } from "@flyte-ts/workflow-crd";
import type { ManagedStack } from "../managed-stack.js";
import { ProcessTree } from "../memory.js";
import { withDatabase } from "../rate/parse-args.js";

/** Counters that only grow, by name: processor milliseconds by program, bytes and writes. */
export type Counters = Readonly<Record<string, number>>;

/** Prefix of the names of processor times, which are followed by the program. */
export const CPU = "cpu ";

/**
 * Reads the counters of a stack and of the servers below it; Linux only. Processor times are
 * milliseconds; those of programs that are not part of the platform, like this one, are absent.
 */
export async function readCounters(stack: ManagedStack): Promise<Counters> {
  const processes = new ProcessTree(process.pid);
  const cpu = Object.entries(processes.cpuParts()).filter(([program]) => program !== "bench");
  const [database, revision] = await Promise.all([readDatabase(stack.dataDir), readRevision(stack.kubeconfig)]);
  return {
    ...Object.fromEntries(cpu.map(([program, seconds]) => [`${CPU}${program}`, seconds * 1_000])),
    ...readBusBytes(processes),
    ...database,
    "Kubernetes writes": revision,
  };
}

/** Bytes that NATS reads from and writes to sockets and files. */
function readBusBytes(processes: ProcessTree): Counters {
  const io = processes.pidsOf("nats").map((pid) => readFileSync(`/proc/${pid}/io`, "utf8"));
  const sum = (field: string): number =>
    io.reduce((total, text) => total + Number(new RegExp(`^${field}: (\\d+)$`, "m").exec(text)?.[1] ?? 0), 0);
  return { "NATS bytes in": sum("rchar"), "NATS bytes out": sum("wchar") };
}

interface DatabaseRow {
  readonly wal: string;
  readonly commits: string;
  readonly rows: string;
}

/** Log, transactions and written rows of all databases of admin's server. */
function readDatabase(dataDir: string): Promise<Counters> {
  const text = `SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text AS wal, sum(xact_commit)::text AS commits,
    sum(tup_inserted + tup_updated + tup_deleted)::text AS rows FROM pg_stat_database`;
  return withDatabase(dataDir, async (db) => {
    const { rows } = await db.query<DatabaseRow>({ text });
    const [row] = rows;
    if (row === undefined) throw new Error("PostgreSQL returned no statistics");
    return { "PostgreSQL log bytes": Number(row.wal), "PostgreSQL commits": Number(row.commits), "PostgreSQL rows": Number(row.rows) };
  });
}

/** Revision of the API server's store, which each write increments. */
async function readRevision(kubeconfig: string): Promise<number> {
  const client = await createKubeClient({ kubeconfig });
  try {
    const { metadata } = await client.list(FLYTE_WORKFLOW_RESOURCE, { maxItems: 1, metadataOnly: true });
    return Number(metadata.resourceVersion);
  } finally {
    await client.close();
  }
}
