import { chownSync } from "node:fs";
import { nobody } from "./unprivileged.js";

/** PostgreSQL does not run as root: a file or folder that root has made for it goes to the user that it runs as. */
export function giveAway(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = nobody();
  chownSync(path, uid, gid);
}
