import { existsSync, readFileSync } from "node:fs";
import type { JournalLine } from "./evidence.js";

/** Reads the starts that attempts have written themselves. */
export function readJournal(file: string): JournalLine[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const found = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as JournalLine);
  // Templates replace the dashes of the key by underscores. Restore the dashes, which the object
  // names in Kubernetes have.
  return found.map((line) => ({ ...line, key: line.key.replaceAll("_", "-") }));
}
