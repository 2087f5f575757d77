import { readdirSync, readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** A process and its descendants. */
function tree(root: number): number[] {
  const found = [root];
  for (let i = 0; i < found.length; i++) {
    const tasks = `/proc/${found[i]}/task`;
    for (const task of list(tasks))
      for (const child of read(`${tasks}/${task}/children`).split(" ")) if (child !== "") found.push(Number(child));
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
 * Memory of a process and its descendants that belongs to them alone, bytes:
 * anonymous pages, which is what a container's limit comes down to. Pages that
 * forked processes share count once only when `exact`, which costs more.
 */
export function treeMemory(root: number, exact: boolean): number {
  let bytes = 0;
  for (const pid of tree(root)) {
    if (exact) {
      const shared =
        /^Pss_Anon:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`)) ?? /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`));
      bytes += Number(shared?.[1] ?? 0) * 1024;
    } else {
      const [, resident = "0", file = "0"] = read(`/proc/${pid}/statm`).split(" ");
      bytes += (Number(resident) - Number(file)) * PAGE_BYTES;
    }
  }
  return bytes;
}
