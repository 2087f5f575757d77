import { type Guard, startGuard } from "@flyte-ts/local-servers";

let guard: Guard | undefined;

/** Ends what a test's process has started when that is killed, as a runner does with tests that take too long. */
export function testGuard(): Guard {
  guard ??= startGuard();
  return guard;
}
