import { type ProcessWatchdog, startWatchdog } from "@flyte-ts/host";

let watchdog: ProcessWatchdog | undefined;

/**
 * Ends the child processes of the test's process when that process is killed, as a test runner does
 * after a timeout.
 */
export function testWatchdog(): ProcessWatchdog {
  watchdog ??= startWatchdog();
  return watchdog;
}
