import { type Guard, startGuard } from "@flyte-ts/local-servers";

let guard: Guard | undefined;

/** Ends the child processes of a test's process when that is killed, as a runner does after a timeout. */
export function testGuard(): Guard {
  guard ??= startGuard();
  return guard;
}
