import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EVENT_STREAM, TASK_STREAM } from "@flyte-ts/bus-contract";
import { freePort } from "@flyte-ts/host";
import { type LocalServer, startNats } from "@flyte-ts/local-servers";
import { connectBus } from "@flyte-ts/messaging";
import { createLogger } from "@flyte-ts/telemetry";
import { testWatchdog } from "@flyte-ts/testing";
import { root } from "../repository.js";

/** Password of each user of {@link startBus}: its name. */
const passwordOf = (user: string) => user;

/** Starts a message bus with the users that the command prints, and the streams of propeller. */
export async function startBus(folder: string, addPlugin: string): Promise<LocalServer> {
  const [, ...args] = addPlugin.split(" ");
  const users = JSON.parse(execFileSync(process.execPath, args, { cwd: root, encoding: "utf8" })) as Record<string, object>;
  const list = Object.entries(users).map(([user, permissions]) => ({ user, password: passwordOf(user), permissions }));
  const config = join(folder, "nats.conf");
  writeFileSync(config, JSON.stringify({ authorization: { users: list } }));
  const server = await startNats({ dataDir: join(folder, "bus"), args: ["-c", config], watchdog: testWatchdog() });
  const logger = createLogger({ service: "test", level: "silent" });
  const bus = await connectBus({ url: busUrl(server, "propeller"), name: "propeller", logger });
  await bus.ensureStream(TASK_STREAM);
  await bus.ensureStream(EVENT_STREAM);
  await bus.close();
  return server;
}

/** URL with which a user connects. */
export function busUrl({ port }: LocalServer, user: string): string {
  return `nats://${user}:${passwordOf(user)}@127.0.0.1:${port}`;
}

/** A process of a plugin service that has started. */
export interface RunningService {
  /** Status of a path of the port for health and metrics; 0 while the port is closed. */
  status(path: string): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts the program of an image in its folder.
 *
 * @throws with its output when it exits before it has started
 */
export async function startService(
  folder: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<RunningService> {
  const port = await freePort();
  const env = { PATH: process.env.PATH ?? "", ...environment, FLYTE_TS_PLUGIN_HTTP_JOB_OPS__PORT: String(port) };
  const child = spawn(process.execPath, command.slice(1), { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
  testWatchdog().watch(child, "SIGTERM");
  await hasStarted(child);
  return {
    status: (path) =>
      fetch(`http://127.0.0.1:${port}${path}`).then(
        ({ status }) => status,
        () => 0,
      ),
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve());
        child.kill("SIGTERM");
      }),
  };
}

function hasStarted(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    const onData = (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes("plugin service started")) resolve();
    };
    child.stdout?.on("data", onData);
    child.stderr?.on("data", onData);
    child.once("exit", (status) => reject(new Error(`the service ended with ${status}: ${output}`)));
  });
}
