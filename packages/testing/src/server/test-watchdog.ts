import { type ProcessWatchdog, startWatchdog } from "@flyte-ts/host";

let watchdog: ProcessWatchdog | undefined;

/**
 * Ends the child processes of a test's process when that is killed, as a runner does after a
 * timeout.
 */
export function testWatchdog(): ProcessWatchdog {
  watchdog ??= startWatchdog();
  return watchdog;
}
