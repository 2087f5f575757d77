import { existsSync } from "node:fs";
import { join } from "node:path";
import { repositoryRoot } from "./paths.js";

/** Returns the folder of the built web console; empty where it has not been built. */
export function consoleFolder(): string {
  const folder = join(repositoryRoot, "services", "console", "bundle");
  return existsSync(join(folder, "index.html")) ? folder : "";
}
