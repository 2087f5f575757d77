import { existsSync, readFileSync } from "node:fs";
import type { JournalLine } from "./evidence.js";

/** Reads what attempts have written down themselves. */
export function readJournal(file: string): JournalLine[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n");
  const found = lines.filter((line) => line !== "").map((line) => JSON.parse(line) as JournalLine);
  // Templates take a name with underscores, where objects of Kubernetes have dashes.
  return found.map((line) => ({ ...line, key: line.key.replaceAll("_", "-") }));
}
