import { type ChildProcess, spawn } from "node:child_process";
import { SERVICE_MALLOC_ENV, SERVICE_NODE_ARGS } from "@flyte-ts/host";
import { testWatchdog } from "./test-watchdog.js";

/**
 * Starts the program of a service with the flags and variables that it has in a deployment. Its log
 * goes to the test's standard error; it ends with the test's process.
 */
export function startServiceProcess(program: string, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [...SERVICE_NODE_ARGS, program, ...args], {
    stdio: ["ignore", "ignore", "inherit"],
    env: { ...process.env, ...SERVICE_MALLOC_ENV },
  });
  testWatchdog().watch(child, "SIGKILL");
  return child;
}
