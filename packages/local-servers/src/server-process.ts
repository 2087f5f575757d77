import { captureTail, type ProcessWatchdog } from "@flyte-ts/host";
import { spawn, type SpawnOptions } from "node:child_process";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A local server that the caller started and must stop. */
export interface LocalServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves with a description when the process ends for any reason. */
  readonly ended: Promise<string>;
  /** Asks the process to end, waits, and kills it after a few seconds. */
  stop(): Promise<void>;
  /** Kills the process, as in a crash. */
  kill(): Promise<void>;
}

export class ServerStartError extends Error {
  override readonly name = "ServerStartError";
}

export interface ProcessSpec {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly options?: SpawnOptions;
  readonly url: string;
  /** Address on which it listens. Default: the loopback address. */
  readonly host?: string;
  readonly port: number;
  readonly stopSignal: NodeJS.Signals;
  /** Called once the port accepts connections, until it returns true; an error means not yet. */
  readonly ready?: () => Promise<boolean>;
  /** Timeout of the start, ms. Default 30 s. */
  readonly startTimeoutMs?: number;
  /** Aborts the start and ends the process. */
  readonly signal?: AbortSignal | undefined;
  /** Ends the process when the caller exits. */
  readonly watchdog?: ProcessWatchdog | undefined;
}

/** Time for an orderly end, ms; then the server is killed. */
const STOP_TIMEOUT_MS = 8_000;

/**
 * Starts a process and waits until its port accepts connections and it reports ready. It gets its
 * own session, so that Ctrl-C at the terminal reaches only the caller, which stops its servers in
 * order.
 *
 * @throws ServerStartError with the last output when it ends first, does not become ready in time,
 *   or the signal is
 * aborted.
 */
export async function startServerProcess(spec: ProcessSpec): Promise<LocalServer> {
  const child = spawn(spec.command, spec.args, { detached: true, stdio: ["ignore", "pipe", "pipe"], ...spec.options });
  spec.watchdog?.watch(child, spec.stopSignal);
  const output = captureTail([child.stdout, child.stderr], 4_000);
  const ended = new Promise<string>((resolve) => {
    child.once("error", (error) => resolve(`${spec.name} could not be started: ${error.message}`));
    child.once("exit", (code, signal) => resolve(`${spec.name} ended with ${signal ?? `status ${code}`}`));
  });
  const end = async (signal: NodeJS.Signals, waitMs: number) => {
    if (child.exitCode === null && child.signalCode === null) child.kill(signal);
    if ((await Promise.race([ended, sleep(waitMs)])) === undefined) child.kill("SIGKILL");
    await ended;
  };
  const startTimeoutMs = spec.startTimeoutMs ?? 30_000;
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const exit = await Promise.race([ended, sleep(15)]);
    if (exit !== undefined) throw new ServerStartError(`${exit}\n${output()}`);
    if (spec.signal?.aborted === true) {
      await end(spec.stopSignal, STOP_TIMEOUT_MS);
      throw new ServerStartError(`${spec.name} was stopped while it started`);
    }
    if ((await acceptsConnections(spec)) && (await isReady(spec))) break;
    if (Date.now() > deadline) {
      child.kill("SIGKILL");
      throw new ServerStartError(`${spec.name} was not ready on port ${spec.port} within ${startTimeoutMs / 1_000} s\n${output()}`);
    }
  }
  return {
    url: spec.url,
    port: spec.port,
    pid: child.pid as number,
    ended,
    stop: () => end(spec.stopSignal, STOP_TIMEOUT_MS),
    kill: () => end("SIGKILL", STOP_TIMEOUT_MS),
  };
}

async function isReady({ ready }: ProcessSpec): Promise<boolean> {
  if (ready === undefined) return true;
  const answer = await ready().catch(() => false);
  // The port is open: asking again at once would only slow the start down.
  if (!answer) await sleep(100);
  return answer;
}

function acceptsConnections({ port, host = "127.0.0.1" }: ProcessSpec): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host });
    const answer = (yes: boolean) => {
      socket.destroy();
      resolve(yes);
    };
    socket.once("connect", () => answer(true));
    socket.once("error", () => answer(false));
  });
}
