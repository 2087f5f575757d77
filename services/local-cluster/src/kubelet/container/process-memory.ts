import { readdirSync, readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** Returns a process and its descendants, each with its parent. */
function processTree(root: number): ReadonlyMap<number, number | undefined> {
  const found = new Map<number, number | undefined>([[root, undefined]]);
  for (const pid of found.keys()) {
    const tasks = `/proc/${pid}/task`;
    for (const task of list(tasks))
      for (const child of read(`${tasks}/${task}/children`).split(" ")) if (child !== "") found.set(Number(child), pid);
  }
  return found;
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/**
 * Measures the memory of a runner's descendants, bytes. The runner itself does not count: a forked
 * one shares all memory of the fork server.
 *
 * Counts anonymous pages, which determine a container's limit. Only `exact`, which is slower,
 * counts pages shared by forked processes once, and omits the memory that a vfork child shares with
 * its parent.
 */
export function treeMemory(runner: number, exact: boolean): number {
  let bytes = 0;
  for (const [pid, parent] of processTree(runner)) {
    if (parent === undefined) continue;
    if (!exact) {
      const [, resident = "0", file = "0"] = read(`/proc/${pid}/statm`).split(" ");
      bytes += (Number(resident) - Number(file)) * PAGE_BYTES;
    } else if (!sharesAddressSpace(pid, parent)) bytes += proportionalBytes(read(`/proc/${pid}/smaps_rollup`));
  }
  return bytes;
}

function proportionalBytes(rollup: string): number {
  return bytesOf(rollup, "Pss_Anon") ?? bytesOf(rollup, "Pss") ?? 0;
}

/**
 * True when two processes share an address space. The kernel does not report that: sizes are equal,
 * and all pages are private, while a forked process shares the pages that it did not write.
 */
function sharesAddressSpace(pid: number, parent: number): boolean {
  const size = (of: number) => read(`/proc/${of}/statm`).split(" ")[0];
  if (size(pid) !== size(parent)) return false;
  const rollup = read(`/proc/${pid}/smaps_rollup`);
  const [own, all] = [bytesOf(rollup, "Pss_Anon"), bytesOf(rollup, "Anonymous")];
  return own !== undefined && all !== undefined && all - own < 4 * PAGE_BYTES;
}

function bytesOf(rollup: string, field: string): number | undefined {
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(rollup);
  return found === null ? undefined : Number(found[1]) * 1024;
}
