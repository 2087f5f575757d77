import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type LocalServer, startNats, startPostgres } from "@flyte-ts/local-servers";
import { testGuard } from "./test-guard.js";

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
  readonly kept?: string | undefined;
}

export function postgresFixture({ durable = false, kept }: PostgresFixtureOptions = {}): Promise<ServerFixture> {
  const start = (dataDir: string, port?: number) =>
    startPostgres({ dataDir, durable, guard: testGuard(), ...(port === undefined ? {} : { port }) });
  return fixture("postgres", start, kept);
}

export function natsFixture(): Promise<ServerFixture> {
  return fixture("nats", (dataDir, port) => startNats({ dataDir, guard: testGuard(), ...(port === undefined ? {} : { port }) }));
}

type Start = (dataDir: string, port?: number) => Promise<LocalServer>;

async function fixture(name: string, start: Start, kept?: string): Promise<ServerFixture> {
  const folder = kept ?? mkdtempSync(join(tmpdir(), `flyte-ts-test-${name}-`));
  const dataDir = join(folder, name);
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
      if (kept === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
