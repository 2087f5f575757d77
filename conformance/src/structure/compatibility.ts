import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../repository.js";

/** A row of docs/reference/compatibility.md. */
export interface CompatibilityRow {
  /** Heading above the row. */
  readonly section: string;
  /** Subject of the row without backquotes: an RPC, a command, a path. */
  readonly name: string;
  /** REST paths, one for each binding; for commands, their arguments. */
  readonly detail: string;
  readonly works: string;
  /** Test files, relative to the root. */
  readonly tests: readonly string[];
}

/**
 * Reads the rows of all tables of docs/reference/compatibility.md with the columns name, detail,
 * support, test.
 */
export function compatibilityRows(): CompatibilityRow[] {
  const rows: CompatibilityRow[] = [];
  let section = "";
  for (const line of readFileSync(join(root, "docs", "reference", "compatibility.md"), "utf8").split("\n")) {
    if (line.startsWith("## ")) section = line.slice(3).trim();
    const cells = line.split("|").map((cell) => cell.trim());
    if (cells.length !== 6 || !cells[1]?.startsWith("`")) continue;
    const [, name = "", detail = "", works = "", shownBy = ""] = cells;
    const tests = [...shownBy.matchAll(/\]\(\.\.\/\.\.\/([^)]+)\)/g)].map(([, path]) => path ?? "");
    rows.push({ section, name: name.replaceAll("`", ""), detail, works, tests });
  }
  return rows;
}
