import { readlink, realpath } from "node:fs/promises";
import { sep } from "node:path";
import { CopilotError } from "../copilot-error.js";

/**
 * Returns the real path of a symbolic link in the task's folder. Links may lead to anything below
 * `root`, the real path of that folder, and nowhere else: they are resolved in the file system of
 * this process, which has other files than the task's, such as credentials.
 * @throws CopilotError
 */
export async function linkTarget(path: string, root: string): Promise<string> {
  const target = await resolve(path);
  if (target !== root && !target.startsWith(`${root}${sep}`)) {
    throw new CopilotError("USER", `${path} is a link to ${target}, which is outside of ${root}`);
  }
  return target;
}

async function resolve(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (cause) {
    const named = await readlink(path).catch(() => "a file");
    const reason = (cause as NodeJS.ErrnoException).code === "ENOENT" ? "which does not exist" : `which cannot be read: ${String(cause)}`;
    throw new CopilotError("USER", `${path} is a link to ${named}, ${reason}`, { cause });
  }
}
