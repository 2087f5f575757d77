import type { LocalServer } from "@flyte-ts/local-servers";

export interface KeptServerOptions {
  readonly onRestart: (text: string) => void;
  /** It cannot be kept running. */
  readonly onFailed: (how: string) => void;
  /** Why no start can succeed now, such as a full disk: the server is not given up for as long as that lasts. */
  readonly obstacle?: () => string | undefined;
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

/** A server that is started again, on the same port and data, when it dies. `begin` gets a signal that is aborted by `stop`. */
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
    private readonly begin: (signal: AbortSignal) => Promise<LocalServer>,
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

  /** Ends the server, which works no more; it is started again as one that died. */
  async renew(why: string): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.options.onRestart(`  ${this.name} is ended: ${why}`);
    await this.#server?.stop();
  }

  async #start(): Promise<LocalServer> {
    const server = await this.begin(this.#stopping.signal);
    const startedAt = this.options.now();
    this.#server = server;
    void server.ended.then((how) => {
      if (this.#stopping.signal.aborted) return;
      if (this.options.now() - startedAt > LIVED_MS) this.#failures = 0;
      this.#restart = this.#startAgain(how);
    });
    return server;
  }

  /** Waits until nothing is in the way of a start, and tells once what is. */
  async #untilClear(obstacle: () => string | undefined = () => undefined): Promise<void> {
    const { onRestart, pause } = this.options;
    const { signal } = this.#stopping;
    let told = false;
    for (let why = obstacle(); why !== undefined && !signal.aborted; why = obstacle()) {
      if (!told) onRestart(`  ${this.name} cannot be started: ${why}, and it is started again`);
      told = true;
      await pause(LONGEST_PAUSE_MS, signal);
    }
  }

  async #startAgain(how: string): Promise<void> {
    const { onRestart, onFailed, pause, obstacle } = this.options;
    const { signal } = this.#stopping;
    onRestart(`  ${how}: starting it again`);
    while (this.#failures < TRIES) {
      await this.#untilClear(obstacle);
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
