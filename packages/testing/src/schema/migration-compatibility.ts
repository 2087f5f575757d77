import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { contractRequires } from "@flyte-ts/postgres";

export interface MigrationCheckOptions {
  /** The first migration to check. */
  readonly from?: string;
}

/**
 * Lists migration statements that may break the previous release: it would miss a dropped object,
 * or write rows that are refused. A migration may contain such statements in a release of its own,
 * after the one that stopped using the object, and says so in its first line (`contractRequires`).
 * One line per finding: the file, the rule, the statement.
 */
export function findIncompatibleMigrations(directory: string, { from = "" }: MigrationCheckOptions = {}): readonly string[] {
  const files = readdirSync(directory).filter((name) => name.endsWith(".sql") && name >= from);
  return files.sort().flatMap((file) => {
    const sql = readFileSync(join(directory, file), "utf8");
    const after = contractRequires(sql);
    if (after === undefined) return findIncompatibleStatements(sql).map((problem) => `${file}: ${problem}`);
    return after < file.slice(0, 4) ? [] : [`${file}: a contract step comes after the migration that it names, ${after}`];
  });
}

/** Checks the text of one file. */
export function findIncompatibleStatements(sql: string): readonly string[] {
  const ownTables = new Set<string>();
  return splitStatements(sql).flatMap((statement) => {
    const rule = checkStatement(statement, ownTables);
    return rule === undefined ? [] : [`${rule}: ${statement.slice(0, 100)}`];
  });
}

/** Statements without comments and quoted text, with blanks collapsed. */
function splitStatements(sql: string): string[] {
  return sql
    .replaceAll(/--[^\n]*/g, "")
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .replaceAll(/\$(\w*)\$[\s\S]*?\$\1\$/g, "''")
    .split(";")
    .map((statement) => statement.replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "");
}

const COMPATIBLE_STATEMENT = /^(CREATE (INDEX|TYPE|FUNCTION|SEQUENCE|VIEW|EXTENSION)|DROP INDEX|INSERT INTO|UPDATE|COMMENT ON|SELECT) ?\b/i;

/** @param ownTables tables that the file itself creates, which no older build knows. */
function checkStatement(statement: string, ownTables: Set<string>): string | undefined {
  const table = /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.[1];
  if (table !== undefined) {
    ownTables.add(table);
    return checkReferences(statement, ownTables);
  }
  const unique = /^CREATE UNIQUE INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)/i.exec(statement)?.[1];
  if (unique !== undefined) return ownTables.has(unique) ? undefined : "rows that the build before writes may be refused";
  const altered = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (.*)$/i.exec(statement);
  if (altered !== null) {
    const [, name = "", clauses = ""] = altered;
    return ownTables.has(name)
      ? undefined
      : splitClauses(clauses)
          .map((clause) => checkClause(clause, ownTables))
          .find((rule) => rule !== undefined);
  }
  return COMPATIBLE_STATEMENT.test(statement) ? undefined : "not known to leave the build before at work";
}

/** Clauses of ALTER TABLE; commas in parentheses do not separate. */
function splitClauses(text: string): string[] {
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

function checkClause(clause: string, ownTables: ReadonlySet<string>): string | undefined {
  if (/^ALTER (COLUMN )?\w+ SET DEFAULT\b/i.test(clause) || /^SET \(/i.test(clause)) return undefined;
  if (!/^ADD (COLUMN )?(?!CONSTRAINT|UNIQUE|PRIMARY|CHECK|FOREIGN|EXCLUDE)\w+ /i.test(clause))
    return "not known to leave the build before at work";
  if (/\bNOT NULL\b/i.test(clause) && !/\b(DEFAULT|GENERATED)\b/i.test(clause))
    return "rows that the build before writes have no value for the column";
  if (/\b(UNIQUE|PRIMARY KEY)\b/i.test(clause)) return "rows that the build before writes may be refused";
  return checkReferences(clause, ownTables);
}

/**
 * Refuses references to older tables: a row unknown to the previous build could prevent its
 * deletes.
 */
function checkReferences(text: string, ownTables: ReadonlySet<string>): string | undefined {
  for (const [reference, table = ""] of text.matchAll(/REFERENCES (\w+)[^,]*/gi))
    if (!ownTables.has(table) && !/ON DELETE (CASCADE|SET NULL)/i.test(reference)) return "rows that the build before deletes may be held";
  return undefined;
}
