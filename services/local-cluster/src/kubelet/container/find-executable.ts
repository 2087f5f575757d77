import { accessSync, constants, statSync } from "node:fs";
import { isAbsolute, join } from "node:path";

/** Finds the file of a command on the PATH; undefined when there is no executable one. */
export function findExecutable(command: string, { path, directory }: { path: string; directory: string }): string | undefined {
  const candidates = command.includes("/")
    ? [isAbsolute(command) ? command : join(directory, command)]
    : path.split(":").map((folder) => join(folder, command));
  return candidates.find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}
