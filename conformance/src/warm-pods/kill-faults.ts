import { readdirSync, readFileSync } from "node:fs";
import type { WarmNode } from "./warm-node.fixture.js";

export const FAULTS = ["worker", "pod", "plugin", "bus"] as const;
export type Fault = (typeof FAULTS)[number];

/** Command lines of supervisors, of the processes that come from them, and of cold attempts. */
const OF_ATTEMPTS = /pyflyte-|import atexit, contextlib, fcntl/;

/** Kills one thing. Returns its description; undefined when there is none. */
export function kill(node: WarmNode, fault: Fault, random: () => number): string | undefined {
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  if (fault === "pod") {
    const pod = one(node.pods().filter(({ status }) => status.phase === "Running"))?.metadata;
    if (pod === undefined) return undefined;
    const now = random() < 0.5 ? ["--force", "--grace-period=0"] : ["--grace-period=1"];
    node.kubectl("delete", "pod", pod.name, "--wait=false", "--ignore-not-found", ...now);
    return `${pod.name} (${pod.labels?.["flyte.org/warm"] ?? "cold"})`;
  }
  const pid = one(fault === "worker" ? attemptProcesses() : node.stack.pids(fault === "plugin" ? "plugin-pod" : "nats"));
  if (pid === undefined) return undefined;
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    return undefined;
  }
  return `process ${pid}`;
}

/** Processes of attempts in containers, which have another id there. */
function attemptProcesses(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const inContainer = /^NSpid:\t\d+\t\d+/m.test(readFileSync(`/proc/${name}/status`, "utf8"));
        return inContainer && OF_ATTEMPTS.test(readFileSync(`/proc/${name}/cmdline`, "utf8"));
      } catch {
        return false;
      }
    })
    .map(Number);
}
