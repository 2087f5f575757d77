import { readFileSync } from "node:fs";
import { resolve, sep } from "node:path";
import { command } from "./command.js";

/**
 * Ends all mounts at a folder and below it. A kubelet mounts its own folder onto itself where the machine's file system is not shared with
 * those that are mounted from it, and leaves that when it ends.
 */
export async function unmount(folder: string): Promise<void> {
  const top = resolve(folder);
  const points = mountPoints().filter((point) => point === top || point.startsWith(top + sep));
  // What was mounted last lies on top. Lazily: who still has a file of it open keeps nobody from ending.
  for (const point of points.reverse()) await command("umount", ["--lazy", point]);
}

/** Source: proc(5), mountinfo; the fifth field, in which spaces, tabs, line ends and backslashes are octal. */
function mountPoints(): string[] {
  return readFileSync("/proc/self/mountinfo", "utf8")
    .split("\n")
    .flatMap((line) => line.split(" ")[4] ?? [])
    .map((field) => field.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8))));
}
