import { readFileSync } from "node:fs";
import { resolve, sep } from "node:path";
import { runCommand } from "./run-command.js";

/**
 * Unmounts everything at a folder and below it. A kubelet bind-mounts its own folder where the
 * machine's mount propagation is not shared, and leaves the mount when it ends.
 */
export async function unmountBelow(folder: string): Promise<void> {
  const top = resolve(folder);
  const points = mountPoints().filter((point) => point === top || point.startsWith(top + sep));
  // The last mount lies on top. Lazily: a process with an open file must not block it.
  for (const point of points.reverse()) await runCommand("umount", ["--lazy", point]);
}

/**
 * Source: proc(5), mountinfo; the fifth field, in which spaces, tabs, line ends and backslashes are
 * octal.
 */
function mountPoints(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .map((field) => field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))));
}
