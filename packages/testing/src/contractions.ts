import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { contractRequires } from "@flyte-ts/postgres";

export interface ContractionsOptions {
  /** The first migration to check. */
  readonly from?: string;
}

/**
 * Lists migration statements that may break the previous release: it would miss a dropped object, or write rows that
 * are refused. A migration may contain such statements in a release of its own, after the one that stopped using the
 * object, and says so in its first line (`contractAfter`). One line per finding: the file, the rule, the statement.
 */
export function contractions(directory: string, { from = "" }: ContractionsOptions = {}): readonly string[] {
  const files = readdirSync(directory).filter((name) => name.endsWith(".sql") && name >= from);
  return files.sort().flatMap((file) => {
    const sql = readFileSync(join(directory, file), "utf8");
    const after = contractRequires(sql);
    if (after === undefined) return contractionsIn(sql).map((problem) => `${file}: ${problem}`);
    return after < file.slice(0, 4) ? [] : [`${file}: a contract step comes after the migration that it names, ${after}`];
  });
}

/** Checks the text of one file. */
export function contractionsIn(sql: string): readonly string[] {
  const made = new Set<string>();
  return statementsOf(sql).flatMap((statement) => {
    const rule = brokenRule(statement, made);
    return rule === undefined ? [] : [`${rule}: ${statement.slice(0, 100)}`];
  });
}

/** Statements without comments and quoted text, with blanks collapsed. */
function statementsOf(sql: string): string[] {
  return sql
    .replaceAll(/--[^\n]*/g, "")
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "");
}

const HARMLESS = /^(CREATE (INDEX|TYPE|FUNCTION|SEQUENCE|VIEW|EXTENSION)|DROP INDEX|INSERT INTO|UPDATE|COMMENT ON|SELECT) ?\b/i;

/** @param made tables that the file itself creates, which no older build knows. */
function brokenRule(statement: string, made: Set<string>): string | undefined {
  const table = /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.[1];
  if (table !== undefined) {
    made.add(table);
    return referenceRule(statement, made);
  }
  const unique = /^CREATE UNIQUE INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)/i.exec(statement)?.[1];
  if (unique !== undefined) return made.has(unique) ? undefined : "rows that the build before writes may be refused";
  const altered = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (.*)$/i.exec(statement);
  if (altered !== null) {
    const [, name = "", clauses = ""] = altered;
    return made.has(name)
      ? undefined
      : clausesOf(clauses)
          .map((clause) => clauseRule(clause, made))
          .find((rule) => rule !== undefined);
  }
  return HARMLESS.test(statement) ? undefined : "not known to leave the build before at work";
}

/** Clauses of ALTER TABLE; commas in parentheses do not separate. */
function clausesOf(text: string): string[] {
  const clauses: string[] = [""];
  let depth = 0;
  for (const char of text) {
    if (char === "(") depth++;
    if (char === ")") depth--;
    if (char === "," && depth === 0) clauses.push("");
    else clauses.push((clauses.pop() ?? "") + char);
  }
  return clauses.map((clause) => clause.trim());
}

function clauseRule(clause: string, made: ReadonlySet<string>): string | undefined {
  if (/^ALTER (COLUMN )?\w+ SET DEFAULT\b/i.test(clause) || /^SET \(/i.test(clause)) return undefined;
  if (!/^ADD (COLUMN )?(?!CONSTRAINT|UNIQUE|PRIMARY|CHECK|FOREIGN|EXCLUDE)\w+ /i.test(clause))
    return "not known to leave the build before at work";
  if (/\bNOT NULL\b/i.test(clause) && !/\b(DEFAULT|GENERATED)\b/i.test(clause))
    return "rows that the build before writes have no value for the column";
  if (/\b(UNIQUE|PRIMARY KEY)\b/i.test(clause)) return "rows that the build before writes may be refused";
  return referenceRule(clause, made);
}

/** Refuses references to older tables: a row unknown to the previous build could prevent its deletes. */
function referenceRule(text: string, made: ReadonlySet<string>): string | undefined {
  for (const [reference, table = ""] of text.matchAll(/REFERENCES (\w+)[^,]*/gi))
    if (!made.has(table) && !/ON DELETE (CASCADE|SET NULL)/i.test(reference)) return "rows that the build before deletes may be held";
  return undefined;
}
