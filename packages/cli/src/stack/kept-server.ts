import type { LocalServer } from "@flyte-ts/local-servers";

export interface KeptServerOptions {
  readonly onRestart: (text: string) => void;
  /** It cannot be kept running. */
  readonly onFailed: (how: string) => void;
  /** Milliseconds. */
  readonly now: () => number;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Tries in a row after which it is given up: half a minute, for what held its port or its memory may take a while to go. */
const TRIES = 12;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** Who has lived so long does not die of its start. */
const LIVED_MS = 30_000;

/** A server that is started again, on the same port and data, when it dies. */
export class KeptServer {
  #server: LocalServer | undefined;
  /** The first start, until it has succeeded or not. */
  #begun: Promise<unknown> = Promise.resolve();
  /** A restart that is under way. */
  #restart: Promise<void> = Promise.resolve();
  /** Starts in a row that led to nothing. */
  #failures = 0;
  readonly #stopping = new AbortController();

  constructor(
    private readonly name: string,
    private readonly begin: () => Promise<LocalServer>,
    private readonly options: KeptServerOptions,
  ) {}

  start(): Promise<LocalServer> {
    const started = this.#start();
    this.#begun = started.catch(() => undefined);
    return started;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#begun;
    await this.#restart;
    await this.#server?.stop();
  }

  async #start(): Promise<LocalServer> {
    const server = await this.begin();
    const startedAt = this.options.now();
    this.#server = server;
    void server.ended.then((how) => {
      if (this.#stopping.signal.aborted) return;
      if (this.options.now() - startedAt > LIVED_MS) this.#failures = 0;
      this.#restart = this.#startAgain(how);
    });
    return server;
  }

  async #startAgain(how: string): Promise<void> {
    const { onRestart, onFailed, pause } = this.options;
    const { signal } = this.#stopping;
    onRestart(`  ${how}: starting it again`);
    while (this.#failures < TRIES) {
      if (this.#failures > 0) await pause(Math.min(FIRST_PAUSE_MS * 2 ** (this.#failures - 1), LONGEST_PAUSE_MS), signal);
      if (signal.aborted) return;
      this.#failures++;
      try {
        await this.#start();
        return;
      } catch (error) {
        onRestart(`  ${this.name} could not be started again: ${(error as Error).message}`);
      }
    }
    onFailed(`${this.name} could not be kept running`);
  }
}
