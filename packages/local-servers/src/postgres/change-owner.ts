import { chownSync } from "node:fs";
import { nobodyIds } from "./drop-privileges.js";

/**
 * Changes the owner of a file or folder that root created to the user that PostgreSQL runs as,
 * since it refuses to run as root.
 */
export function chownToNobody(path: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = nobodyIds();
  chownSync(path, uid, gid);
}
