import { chownSync } from "node:fs";
import { nobody } from "./unprivileged.js";

/** Changes the owner of a file or folder that root created to the user that PostgreSQL runs as, since it refuses to run as root. */
export function giveAway(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = nobody();
  chownSync(path, uid, gid);
}
