import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../repository.js";

/** Lists files of the repository, including new ones, that match patterns of git and exist. */
export function trackedFiles(...patterns: readonly string[]): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", ...patterns];
  const listed = execFileSync("git", args, { cwd: root, encoding: "utf8" });
  return listed.split("\n").filter((file) => file !== "" && existsSync(join(root, file)));
}
