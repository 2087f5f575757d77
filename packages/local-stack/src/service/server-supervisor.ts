import { type Backoff, backoffDelay } from "@flyte-ts/async";
import type { LocalServer } from "@flyte-ts/local-servers";

export interface ServerSupervisorOptions {
  readonly onRestart: (text: string) => void;
  /** Called when the server will not be restarted any more. */
  readonly onFailed: (how: string) => void;
  /**
   * Reason why no start can succeed now, such as a full disk. While it lasts, the supervisor waits
   * and counts no failed start.
   */
  readonly obstacle?: () => string | undefined;
  /** Milliseconds. */
  readonly now: () => number;
  /** Resolves after `ms`, or when the signal is aborted. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Consecutive attempts before giving up; about half a minute, so a port or memory can be released.
 */
const MAX_STARTS = 12;
const RESTARTS: Backoff = { initialMs: 100, maxMs: 5_000 };
/** Uptime, ms, after which failed starts are forgotten. */
const STABLE_UPTIME_MS = 30_000;

/**
 * A server that is restarted on the same port and data when it exits. `begin` gets a signal that
 * `stop` aborts.
 */
export class ServerSupervisor {
  #server: LocalServer | undefined;
  /** The first start, until it has succeeded or failed. */
  #firstStart: Promise<unknown> = Promise.resolve();
  /** The restart in progress. */
  #restart: Promise<void> = Promise.resolve();
  /** Consecutive failed starts. */
  #failures = 0;
  readonly #stopping = new AbortController();

  constructor(
    private readonly name: string,
    private readonly begin: (signal: AbortSignal) => Promise<LocalServer>,
    private readonly options: ServerSupervisorOptions,
  ) {}

  start(): Promise<LocalServer> {
    const started = this.#start();
    this.#firstStart = started.catch(() => undefined);
    return started;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#firstStart;
    await this.#restart;
    await this.#server?.stop();
  }

  /** Sends a signal to the server, such as the one that makes it read its configuration again. */
  signal(name: NodeJS.Signals): void {
    if (this.#server === undefined) return;
    try {
      process.kill(this.#server.pid, name);
    } catch (error) {
      // It has just ended, and is restarted.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  /**
   * Stops a server that no longer works. The supervisor then restarts it as after an unexpected
   * exit.
   */
  async forceRestart(why: string): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.options.onRestart(`  ${this.name} is being restarted: ${why}`);
    await this.#server?.stop();
  }

  async #start(): Promise<LocalServer> {
    const server = await this.begin(this.#stopping.signal);
    const startedAt = this.options.now();
    this.#server = server;
    void server.ended.then((how) => {
      if (this.#stopping.signal.aborted) return;
      if (this.options.now() - startedAt > STABLE_UPTIME_MS) this.#failures = 0;
      this.#restart = this.#restartServer(how);
    });
    return server;
  }

  /** Waits until no obstacle prevents a start, and reports the obstacle once. */
  async #waitForNoObstacle(obstacle: () => string | undefined = () => undefined): Promise<void> {
    const { onRestart, delay } = this.options;
    const { signal } = this.#stopping;
    let reported = false;
    for (let why = obstacle(); why !== undefined && !signal.aborted; why = obstacle()) {
      if (!reported) onRestart(`  ${this.name} cannot start: ${why}; it will be retried`);
      reported = true;
      await delay(RESTARTS.maxMs, signal);
    }
  }

  async #restartServer(how: string): Promise<void> {
    const { onRestart, onFailed, delay, obstacle } = this.options;
    const { signal } = this.#stopping;
    onRestart(`  ${how}; restarting`);
    while (this.#failures < MAX_STARTS) {
      await this.#waitForNoObstacle(obstacle);
      if (this.#failures > 0) await delay(backoffDelay(RESTARTS, this.#failures - 1), signal);
      if (signal.aborted) return;
      this.#failures++;
      try {
        await this.#start();
        return;
      } catch (error) {
        onRestart(`  ${this.name} failed to restart: ${(error as Error).message}`);
      }
    }
    onFailed(`${this.name} reached its restart limit`);
  }
}
