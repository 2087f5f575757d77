import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { processStat } from "./process-stat.js";

/** Another service uses the data directory: two would corrupt its log. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

/** Locks a data directory for this process; takes over the lock of a dead process. */
export function lockDataDir(folder: string): () => void {
  const path = join(folder, "lock");
  const mine = `${process.pid} ${processStat(process.pid)?.startTicks ?? ""}`;
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      const fd = openSync(path, "wx", 0o600);
      writeSync(fd, mine);
      closeSync(fd);
      return () => rmSync(path, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const [pid = "", ticks = ""] = readFileSync(path, "utf8").split(" ");
      if (pid !== "" && processStat(Number(pid))?.startTicks === ticks) {
        throw new DataDirInUse(`the data directory ${folder} is in use by process ${pid}`);
      }
      rmSync(path, { force: true });
    }
  }
  throw new DataDirInUse(`the data directory ${folder} cannot be locked`);
}
