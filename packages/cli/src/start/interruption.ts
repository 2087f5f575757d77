/** The part of `process` that receives requests to end. */
export interface SignalSource {
  on(event: "SIGINT" | "SIGTERM" | "SIGHUP" | "disconnect", listener: () => void): unknown;
  exit(status: number): void;
}

/** A request to end this process. */
export interface Interruption {
  /** Aborted by the first request. */
  readonly signal: AbortSignal;
  /** Resolves with the first request. */
  readonly happened: Promise<"interrupted">;
}

/** Exit status of a process that a person has interrupted. */
export const INTERRUPTED = 130;

/**
 * SIGINTs within this time of the first, ms, belong to the same key press: the terminal sends one
 * to each process of the group, and npm passes its own on.
 */
const SAME_KEY_PRESS_MS = 1_000;

/**
 * Handles requests to end: SIGINT (Ctrl-C), SIGTERM (service managers, containers), SIGHUP (the
 * terminal was closed), and the exit of the launcher, which closes the IPC channel. A second Ctrl-C
 * ends this process at once. Other signals may arrive several times for one request, since systemd
 * sends SIGTERM to every process of a unit.
 *
 * @param now milliseconds of a monotonic clock
 */
export function watchInterruption(target: SignalSource, now: () => number): Interruption {
  const controller = new AbortController();
  const { signal } = controller;
  let firstAt = 0;
  const end = () => {
    if (signal.aborted) return;
    firstAt = now();
    controller.abort();
  };
  target.on("SIGINT", () => {
    if (signal.aborted && now() - firstAt > SAME_KEY_PRESS_MS) target.exit(INTERRUPTED);
    end();
  });
  for (const event of ["SIGTERM", "SIGHUP", "disconnect"] as const) target.on(event, end);
  const happened = new Promise<"interrupted">((resolve) => signal.addEventListener("abort", () => resolve("interrupted"), { once: true }));
  return { signal, happened };
}
