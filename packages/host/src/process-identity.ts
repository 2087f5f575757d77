import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

/**
 * Identifies a live process permanently, since ids are reused, after a reboot from the beginning.
 * On Linux the boot id and the start time in clock ticks since then (proc(5), `/proc/PID/stat`,
 * field 22), elsewhere the start time by ps(1). Undefined when the process does not exist or is a
 * zombie.
 */
export function processIdentity(pid: number): string | undefined {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? fromProc(pid) : fromPs(pid);
}

/**
 * Command line of a live process, its arguments separated by NUL on Linux and by spaces elsewhere;
 * undefined when it does not exist.
 */
export function processCommandLine(pid: number): string | undefined {
  if (processIdentity(pid) === undefined) return undefined;
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

let bootId: string | undefined;

function fromProc(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command is in parentheses and may contain anything; the fields after it are separated by
    // spaces.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (fields[0] === "Z" || fields[0] === "X") return undefined;
    bootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${bootId}:${fields[19]}`;
  } catch {
    return undefined;
  }
}

function fromPs(pid: number): string | undefined {
  try {
    const output = execFileSync("ps", ["-o", "stat=,lstart=", "-p", String(pid)], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
    }).trim();
    return output === "" || output.startsWith("Z") ? undefined : output.replace(/^\S+\s+/, "");
  } catch {
    return undefined;
  }
}
