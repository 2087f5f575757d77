import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startNats, startPostgres } from "@flyte-ts/local-servers";
import { testWatchdog } from "./test-watchdog.js";

/** A real server on a free port with a folder of its own; `stop` removes both. */
export interface ServerFixture {
  readonly url: string;
  readonly port: number;
  /** Kills the server; `restart` starts it with the same port and data. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresFixtureOptions {
  /** Keep commits across a crash of the server; slower, therefore off by default. */
  readonly durable?: boolean;
  /** Keeps the data in this folder for the next run; default: `stop` removes them. */
  readonly dataDir?: string | undefined;
}

export function postgresFixture({ durable = false, dataDir: keptDir }: PostgresFixtureOptions = {}): Promise<ServerFixture> {
  const start = (dataDir: string, port?: number) =>
    startPostgres({ dataDir, durable, watchdog: testWatchdog(), ...(port === undefined ? {} : { port }) });
  return serverFixture("postgres", start, keptDir);
}

export function natsFixture(): Promise<ServerFixture> {
  return serverFixture("nats", (dataDir, port) =>
    startNats({ dataDir, watchdog: testWatchdog(), ...(port === undefined ? {} : { port }) }),
  );
}

type Start = (dataDir: string, port?: number) => Promise<LocalServer>;

async function serverFixture(name: string, start: Start, keptDir?: string): Promise<ServerFixture> {
  const dir = keptDir ?? mkdtempSync(join(tmpdir(), `flyte-ts-test-${name}-`));
  const dataDir = join(dir, name);
  let server = await start(dataDir);
  const { url, port } = server;
  return {
    url,
    port,
    kill: () => server.kill(),
    restart: async () => {
      await server.stop();
      server = await start(dataDir, port);
    },
    stop: async () => {
      await server.stop();
      if (keptDir === undefined) rmSync(dir, { recursive: true, force: true });
    },
  };
}
