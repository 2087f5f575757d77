import { askReady } from "./ask-ready.js";

/** Text on /readyz while the message bus does not store messages (`StoreHealth` of packages/messaging). */
const DOES_NOT_STORE = "the message bus does not store messages";

/** Interval of the checks, ms. */
const LOOK_EVERY_MS = 5_000;
/** Consecutive checks that must find it: a service that has just started may be at fault. */
const LOOKS = 2;
/** Time for the server to restart and services to notice, ms. */
const AFTER_RESTART_MS = 30_000;

export interface BusWatchOptions {
  /** Ops ports of services that use the bus. */
  readonly ports: readonly number[];
  /** Reason why a restart would not help now, such as a full disk. */
  readonly obstacle: () => string | undefined;
  /** Ends the server, which is then restarted. */
  readonly restart: (why: string) => Promise<void>;
  /** Resolves after `ms`, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Queries the readiness of a service. Default: its /readyz. */
  readonly ask?: (port: number) => Promise<{ readonly text: string }>;
}

/**
 * Restarts the message bus when services report that it stores nothing. A NATS server whose disk was full stores
 * nothing more until it is restarted, even with room again. While the disk is full it is not restarted. Resolves when
 * the signal is aborted.
 */
export async function watchBus(
  { ports, obstacle, restart, pause, ask = (port) => askReady(port, 3_000) }: BusWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let seen = 0;
  while (!signal.aborted) {
    await pause(LOOK_EVERY_MS, signal);
    const answers = await Promise.all(
      ports.map((port) =>
        ask(port).then(
          ({ text }) => text,
          () => "",
        ),
      ),
    );
    const why = answers.find((text) => text.includes(DOES_NOT_STORE));
    seen = why === undefined ? 0 : seen + 1;
    if (why === undefined || seen < LOOKS || signal.aborted || obstacle() !== undefined) continue;
    seen = 0;
    await restart(why);
    await pause(AFTER_RESTART_MS, signal);
  }
}
