import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { chownToNobody, type LocalServer, startPostgres } from "@flyte-ts/local-servers";
import { createPool, type Queryable } from "@flyte-ts/postgres";
import { createLogger } from "@flyte-ts/telemetry";
import { type SilentLink, startSilentLink } from "../proxy/silent-link.js";
import { startTcpForwarder } from "../proxy/tcp-forwarder.js";
import type { ServerFixture } from "./servers.js";
import { testWatchdog } from "./test-watchdog.js";

const run = promisify(execFile);
const logger = createLogger({ service: "test", level: "silent" });

/** A running server and its folder. */
interface Member {
  readonly dataDir: string;
  readonly server: LocalServer;
}

/** A standby and its connection to the primary. */
interface Standby extends Member {
  readonly link: SilentLink;
}

/**
 * Time before the end of a primary during which its standby receives nothing, ms: commits that do
 * not wait for the standby are lost.
 */
const LAG_MS = 300;
/** Interval at which the state of the replication is read, ms. */
const POLL_MS = 50;
/** Longest wait for a standby, ms. */
const STANDBY_TIMEOUT_MS = 60_000;

/**
 * PostgreSQL with a synchronous standby, behind one address that always leads to the primary. A
 * commit is confirmed when the standby has flushed it. `kill` kills the primary, whose last commits
 * the standby has not received, and removes its data. `restart` promotes the standby, directs the
 * address to it, and adds a new standby.
 */
export async function replicatedPostgresFixture(): Promise<ServerFixture> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-test-replicated-postgres-"));
  let members = 0;
  const newDataDir = () => join(folder, `member-${members++}`);
  let primary = await startMember(newDataDir());
  let standby = await addStandby(primary, newDataDir());
  const forwarder = await startTcpForwarder(primary.server.port);
  const url = new URL(primary.server.url);
  url.port = String(forwarder.port);
  const kill = async () => {
    standby.link.setSilent(true);
    await sleep(LAG_MS);
    await primary.server.kill();
    rmSync(primary.dataDir, { recursive: true, force: true });
  };
  return {
    url: url.href,
    port: forwarder.port,
    kill,
    restart: async () => {
      await primary.server.kill();
      await standby.link.stop();
      primary = standby;
      await promote(primary);
      forwarder.setTarget(primary.server.port);
      standby = await addStandby(primary, newDataDir());
    },
    stop: async () => {
      await forwarder.stop();
      // A primary whose standby is gone would wait for it with each commit.
      await primary.server.stop();
      await standby.link.stop();
      await standby.server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function startMember(dataDir: string, settings: Readonly<Record<string, string>> = {}): Promise<Member> {
  return { dataDir, server: await startPostgres({ dataDir, watchdog: testWatchdog(), settings }) };
}

/** Makes the primary wait for its standby with each commit, or for none. */
async function requireStandby(db: Queryable, required: boolean): Promise<void> {
  await db.query({ text: `ALTER SYSTEM SET synchronous_standby_names = '${required ? "*" : ""}'` });
  await db.query({ text: "SELECT pg_reload_conf()" });
}

/** Copies the primary, starts the copy as its standby, and waits until commits are synchronous. */
async function addStandby({ dataDir, server }: Member, standbyDir: string): Promise<Standby> {
  const db = createPool({ url: server.url, logger, maxConnections: 2 });
  try {
    mkdirSync(standbyDir, { mode: 0o700 });
    chownToNobody(standbyDir);
    copyFileSync(join(dataDir, "password"), join(standbyDir, "password"));
    chownToNobody(join(standbyDir, "password"));
    const data = join(standbyDir, "data");
    // Both functions must run in one session.
    const label = await db.transaction(async (session) => {
      await session.query({ text: "SELECT pg_backup_start('standby', true)" });
      // Files that vanish meanwhile are restored from the log.
      await run("cp", ["-Rp", join(dataDir, "data"), data]).catch(() => undefined);
      const { rows } = await session.query<{ labelfile: string }>({ text: "SELECT labelfile FROM pg_backup_stop()" });
      return rows[0]?.labelfile ?? "";
    });
    rmSync(join(data, "postmaster.pid"), { force: true });
    for (const [name, content] of [
      ["backup_label", label],
      ["standby.signal", ""],
    ] as const) {
      writeFileSync(join(data, name), content, { mode: 0o600 });
      chownToNobody(join(data, name));
    }
    const { password } = new URL(server.url);
    const link = await startSilentLink(server.port);
    const standby = await startMember(standbyDir, {
      primary_conninfo: `host=127.0.0.1 port=${link.port} user=flyte password=${password}`,
    });
    await requireStandby(db, true);
    await waitFor(db, "SELECT count(*)::int = 1 AS met FROM pg_stat_replication WHERE sync_state = 'sync'");
    return { ...standby, link };
  } finally {
    await db.close();
  }
}

async function promote({ server }: Member): Promise<void> {
  const db = createPool({ url: server.url, logger, maxConnections: 1 });
  try {
    await db.query({ text: "SELECT pg_promote()" });
    await waitFor(db, "SELECT NOT pg_is_in_recovery() AS met");
    await requireStandby(db, false);
  } finally {
    await db.close();
  }
}

async function waitFor(db: Queryable, condition: string): Promise<void> {
  for (const deadline = Date.now() + STANDBY_TIMEOUT_MS; ; ) {
    const { rows } = await db.query<{ met: boolean }>({ text: condition });
    if (rows[0]?.met === true) return;
    if (Date.now() > deadline) throw new Error(`not within ${STANDBY_TIMEOUT_MS} ms: ${condition}`);
    await sleep(POLL_MS);
  }
}
