import { askReady } from "./ask-ready.js";

/** What services answer on /readyz while the message bus does not store (`StoreHealth` of packages/messaging). */
const DOES_NOT_STORE = "the message bus does not store messages";

/** Pause between two looks, ms. */
const LOOK_EVERY_MS = 5_000;
/** Looks in a row that must see it: a service that has just started may be the one to blame. */
const LOOKS = 2;
/** Time that the server gets to come back and services to notice, ms. */
const AFTER_RESTART_MS = 30_000;

export interface BusWatchOptions {
  /** Ops ports of services that use the bus. */
  readonly ports: readonly number[];
  /** Reason why a new start would not help now, such as a full disk. */
  readonly obstacle: () => string | undefined;
  /** Ends the server, which is started again then. */
  readonly restart: (why: string) => Promise<void>;
  /** Resolves after so many milliseconds, or when the signal is aborted. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Asks a service whether it is ready. Default: its /readyz. */
  readonly ask?: (port: number) => Promise<{ readonly text: string }>;
}

/**
 * Restarts the message bus when services say that it stores nothing. A NATS server whose disk was full stores nothing more, with room again
 * too, until it is started anew. While the disk is full it is left alone. Resolves when the signal is aborted.
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
