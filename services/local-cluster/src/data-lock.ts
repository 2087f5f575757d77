import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { processStat } from "./process-stat.js";

/** Two services on one folder would destroy its log. */
export class DataDirInUse extends Error {
  override readonly name = "DataDirInUse";
}

/** Claims a data folder for this process; a claim left by a process that has died is taken over. */
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
        throw new DataDirInUse(`the data folder ${folder} is in use by process ${pid}`);
      }
      rmSync(path, { force: true });
    }
  }
  throw new DataDirInUse(`the data folder ${folder} cannot be locked`);
}
