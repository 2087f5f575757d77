import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, closeSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { backoffDelay } from "@flyte-ts/async";
import { cacheDir, probeReadiness, type ProcessWatchdog, SERVICE_MALLOC_ENV, SERVICE_NODE_ARGS } from "@flyte-ts/host";
import { StackError } from "../stack-error.js";
import { setTimeout as sleep } from "node:timers/promises";

export interface ServiceSpec {
  readonly name: string;
  /** Program file, run by the same Node as this process. */
  readonly program: string;
  readonly configFile: string;
  /** Port of /readyz. */
  readonly opsPort: number;
}

export interface ServiceSupervisorOptions {
  readonly logDir: string;
  /** Ends the service when this process exits, even when it is killed. */
  readonly watchdog: ProcessWatchdog;
  /** Called when a service ended unexpectedly. */
  readonly onRestart: (service: string, how: string) => void;
}

/** Interval of readiness queries to a starting service, ms. */
const PROBE_INTERVAL_MS = 50;

/** Characters of a log to read, and lines of it to show, when a service does not become ready. */
const LOG_TAIL_CHARS = 16_000;
const SHOWN_LINES = 5;

const MAX_LOG_BYTES = 20 * 1024 * 1024;

/** A service as a child process that is restarted when it exits. */
export class ServiceSupervisor {
  #child: ChildProcess | undefined;
  #stopping = false;
  #failures = 0;
  #ended: Promise<void> = Promise.resolve();
  readonly logFile: string;

  constructor(
    readonly spec: ServiceSpec,
    private readonly options: ServiceSupervisorOptions,
  ) {
    this.logFile = join(options.logDir, `${spec.name}.log`);
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  start(): void {
    mkdirSync(this.options.logDir, { recursive: true });
    rotateLog(this.logFile);
    this.#spawn();
  }

  /**
   * Resolves when /readyz answers 200.
   *
   * @throws StackError with the end of the log after `timeoutMs`.
   */
  async ready(timeoutMs: number): Promise<void> {
    const deadline = Date.now() + timeoutMs;
    let reason = "no answer";
    while (Date.now() < deadline) {
      try {
        const { ready, text } = await probeReadiness(`http://127.0.0.1:${this.spec.opsPort}`, { timeoutMs: 2_000 });
        if (ready) return;
        reason = text;
      } catch {
        // The service does not listen yet, or listens but is not ready.
        await sleep(PROBE_INTERVAL_MS);
      }
      if (this.#failures >= 5) break;
      await sleep(PROBE_INTERVAL_MS);
    }
    throw new StackError(`${this.spec.name} did not become ready: ${reason}; its log is ${this.logFile}\n${this.logTail()}`);
  }

  /** Asks the service to drain and end; kills it after 15 s. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#child?.kill("SIGTERM");
    if ((await Promise.race([this.#ended.then(() => true), sleep(15_000, false, { ref: false })])) === false) this.#child?.kill("SIGKILL");
    await this.#ended;
  }

  /** The last lines of the log for the user, without stack traces, which are in the file. */
  logTail(): string {
    try {
      const lines = readFileSync(this.logFile, "utf8").slice(-LOG_TAIL_CHARS).split("\n");
      return lines
        .filter((line) => !/^\s|^$|^Node\.js v/.test(line))
        .slice(-SHOWN_LINES)
        .join("\n");
    } catch {
      return "";
    }
  }

  #spawn(): void {
    const startedAt = Date.now();
    this.#ended = new Promise((resolve) => {
      const onEnd = (how: string): void => {
        resolve();
        this.#scheduleRestart(how, startedAt);
      };
      try {
        const child = this.#spawnProcess();
        child.once("exit", (code, signal) => onEnd(signal ?? `status ${code}`));
        // A process that could not be created has no exit event: the machine may have lacked
        // memory.
        child.once("error", (error) => child.pid === undefined && onEnd(error.message));
      } catch (error) {
        onEnd((error as Error).message);
      }
    });
  }

  #spawnProcess(): ChildProcess {
    this.#child = undefined;
    const log = openSync(this.logFile, "a");
    try {
      // A session of its own: Ctrl-C reaches only the supervisor, which stops the services in
      // order.
      const child = spawn(process.execPath, [...SERVICE_NODE_ARGS, this.spec.program, "--config", this.spec.configFile], {
        stdio: ["ignore", log, log],
        env: { ...SERVICE_MALLOC_ENV, NODE_COMPILE_CACHE: join(cacheDir(), "node"), ...process.env },
        detached: true,
      });
      this.options.watchdog.watch(child);
      this.#child = child;
      return child;
    } finally {
      closeSync(log);
    }
  }

  #scheduleRestart(how: string, startedAt: number): void {
    if (this.#stopping) return;
    this.#failures = Date.now() - startedAt > 30_000 ? 1 : this.#failures + 1;
    this.options.onRestart(this.spec.name, how);
    const delay = this.#failures === 1 ? 0 : backoffDelay({ initialMs: 200, maxMs: 10_000 }, this.#failures - 1);
    setTimeout(() => {
      if (!this.#stopping) this.#spawn();
    }, delay);
  }
}

function rotateLog(file: string): void {
  try {
    if (statSync(file).size > MAX_LOG_BYTES) renameSync(file, `${file}.1`);
  } catch {
    // No log yet.
  }
}
