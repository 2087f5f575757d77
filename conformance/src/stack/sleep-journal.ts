import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RunningStack } from "./stack-fixture.js";

/** One sleep of one attempt, by the clock of its plugin service. */
export interface Sleep {
  /** Namespace and generated name. */
  readonly attempt: string;
  readonly begun: number;
  /** Undefined when it has not ended or was aborted. */
  readonly ended: number | undefined;
}

interface LogLine {
  readonly msg?: string;
  readonly object?: string;
  readonly time?: number | string;
}

const logOf = ({ folder }: RunningStack) => join(folder, "logs", "plugin-echo.log");
const STARTED_MESSAGE = "plugin service started";

/**
 * Restarts the plugin service of core-sleep with the log level debug, at which it logs when each
 * sleep begins and ends.
 */
export async function enableSleepJournal(stack: RunningStack): Promise<void> {
  const file = join(stack.folder, "config", "plugin-echo.yaml");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^logLevel: .*$/m, "logLevel: debug"));
  const serving = () => readFileSync(logOf(stack), "utf8").split(STARTED_MESSAGE).length;
  const before = serving();
  for (const pid of stack.pids("plugin-echo")) process.kill(pid, "SIGTERM");
  for (let waited = 0; serving() === before; waited += 50) {
    if (waited > 30_000) throw new Error("the echo plugin did not come back");
    await sleep(50);
  }
}

/**
 * Reads the sleeps of an execution from the plugin service's own log, independently of the events
 * that it sent.
 */
export function sleepsOf(stack: RunningStack, execution: string): Sleep[] {
  return parseSleeps(existsSync(logOf(stack)) ? readFileSync(logOf(stack), "utf8").split("\n") : [], execution);
}

/** Reports whether a line of the log may describe a sleep. */
export function isSleepLine(line: string): boolean {
  return line.includes('"sleep ') || line.includes('"the sleep ');
}

/** Parses the sleeps from log lines at debug level. */
export function parseSleeps(lines: readonly string[], execution: string): Sleep[] {
  const open = new Map<string, number>();
  const sleeps: Sleep[] = [];
  for (const line of lines.filter((each) => each.includes(execution) && isSleepLine(each))) {
    const { msg, object: attempt = "", time = 0 } = JSON.parse(line) as LogLine;
    const at = new Date(time).getTime();
    const begun = open.get(attempt);
    // The sleep's end had passed when the request arrived.
    if (msg === "the sleep has already finished") sleeps.push({ attempt, begun: at, ended: at });
    else if (msg === "sleep started") {
      // The sleep began again before the log showed its end: count both.
      if (begun !== undefined) sleeps.push({ attempt, begun, ended: undefined });
      open.set(attempt, at);
    } else if (begun !== undefined) {
      open.delete(attempt);
      sleeps.push({ attempt, begun, ended: msg === "sleep finished" ? at : undefined });
    }
  }
  for (const [attempt, begun] of open) sleeps.push({ attempt, begun, ended: undefined });
  return sleeps;
}
