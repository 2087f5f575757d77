import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Names a live process for good: ids are given out again, after a restart of the machine from the beginning. On Linux the id of the
 * boot and the start time in clock ticks since then (proc(5), `/proc/PID/stat`, field 22), elsewhere the start time as ps(1) tells it.
 * Undefined when there is no such process, or it has ended and waits for its parent to take note of that.
 */
export function identityOf(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/** Command line of a live process, its words separated by NUL on Linux and by spaces elsewhere; undefined when there is none. */
export function commandOf(pid: number): string | undefined {
  if (identityOf(pid) === undefined) return undefined;
  try {
    if (process.platform === "linux") return readFileSync(`/proc/${pid}/cmdline`, "utf8");
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

let boot: string | undefined;

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command stands in parentheses and may hold anything; the fields after it are separated by spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    boot ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const told = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
    }).trim();
    return told === "" || told.startsWith("Z") ? undefined : told.replace(/^\S+\s+/, "");
  } catch {
    return undefined;
  }
}
