// Finds the source files that checks read.
import { readdirSync } from "node:fs";
import { join } from "node:path";

/** Folders without hand-written code. */
const SKIPPED = new Set(["gen", "node_modules", "dist", "bundle"]);

/** Yields the paths of the hand-written TypeScript and JavaScript modules below a folder. */
export function* sourceFiles(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith(".")) yield* sourceFiles(path);
    else if (entry.isFile() && /\.(ts|mjs)$/.test(entry.name)) yield path;
  }
}
