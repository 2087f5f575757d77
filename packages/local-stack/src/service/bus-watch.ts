import { probeReadiness } from "@flyte-ts/host";

/**
 * Text on /readyz while the message bus does not store messages (`StreamHealth` of
 * packages/messaging).
 */
const STORE_FAILURE_TEXT = "the message bus does not store messages";

/** Interval of the checks, ms. */
const CHECK_INTERVAL_MS = 5_000;
/**
 * Consecutive checks that must find the failure before a restart. A single finding may be the fault
 * of a service that has just started.
 */
const REQUIRED_FINDINGS = 2;
/** Time for the server to restart and services to notice, ms. */
const SETTLE_MS = 30_000;

export interface BusWatchOptions {
  /** Ops ports of services that use the bus. */
  readonly ports: readonly number[];
  /** Reason why a restart would not help now, such as a full disk. */
  readonly obstacle: () => string | undefined;
  /** Ends the server, which is then restarted. */
  readonly restart: (why: string) => Promise<void>;
  /** Resolves after `ms`, or when the signal is aborted. */
  readonly delay: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Queries the readiness of a service. Default: its /readyz. */
  readonly probe?: (port: number) => Promise<{ readonly text: string }>;
}

/**
 * Restarts the message bus when services report that it stores nothing. A NATS server whose disk
 * was full stores nothing more until it is restarted, even when the disk has free space again.
 * While the disk is full, the server is not restarted. Resolves when the signal is aborted.
 */
export async function watchBus(
  { ports, obstacle, restart, delay, probe = (port) => probeReadiness(`http://127.0.0.1:${port}`, { timeoutMs: 3_000 }) }: BusWatchOptions,
  signal: AbortSignal,
): Promise<void> {
  let findings = 0;
  while (!signal.aborted) {
    await delay(CHECK_INTERVAL_MS, signal);
    const states = await Promise.all(
      ports.map((port) =>
        probe(port).then(
          ({ text }) => text,
          () => "",
        ),
      ),
    );
    const why = states.find((text) => text.includes(STORE_FAILURE_TEXT));
    findings = why === undefined ? 0 : findings + 1;
    if (why === undefined || findings < REQUIRED_FINDINGS || signal.aborted || obstacle() !== undefined) continue;
    findings = 0;
    await restart(why);
    await delay(SETTLE_MS, signal);
  }
}
