import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findIncompatibleMigrations, findIncompatibleStatements } from "./migration-compatibility.js";

test.each([
  "CREATE TABLE a (id bigint PRIMARY KEY, of bigint REFERENCES executions (id) ON DELETE CASCADE)",
  "CREATE TABLE a (id int); CREATE UNIQUE INDEX a_id ON a (id); ALTER TABLE a ADD CONSTRAINT few CHECK (id < 9)",
  "ALTER TABLE executions ADD COLUMN a text, ADD COLUMN b text NOT NULL DEFAULT 'x, y' CHECK (b IN ('x', 'y'))",
  "ALTER TABLE executions ADD COLUMN c timestamptz GENERATED ALWAYS AS (to_timestamp(started_ns, 1)) STORED",
  "-- DROP TABLE executions;\nUPDATE executions SET a = 'DROP TABLE; x'; DROP INDEX executions_error",
  "ALTER TABLE executions ALTER COLUMN a SET DEFAULT 'y'",
])("a compatible migration: %s", (sql) => {
  expect(findIncompatibleStatements(sql)).toEqual([]);
});

test.each([
  "DROP TABLE executions",
  "DELETE FROM executions",
  "TRUNCATE executions",
  "ALTER TABLE executions DROP COLUMN a",
  "ALTER TABLE executions RENAME COLUMN a TO b",
  "ALTER TABLE executions RENAME TO runs",
  "ALTER TABLE executions ALTER COLUMN a TYPE bigint",
  "ALTER TABLE executions ALTER COLUMN a SET NOT NULL",
  "ALTER TABLE executions ALTER COLUMN a DROP NOT NULL",
  "ALTER TABLE executions ADD COLUMN a text, ADD COLUMN b text NOT NULL",
  "ALTER TABLE executions ADD COLUMN a text UNIQUE",
  "ALTER TABLE executions ADD CONSTRAINT few CHECK (attempts < 10)",
  "ALTER TABLE executions ADD UNIQUE (a)",
  "CREATE UNIQUE INDEX one ON executions (a)",
  "CREATE TABLE a (of bigint REFERENCES executions (id))",
  "ALTER TABLE executions ADD COLUMN of bigint REFERENCES workflows (id)",
  "CREATE TRIGGER t BEFORE INSERT ON executions EXECUTE FUNCTION f()",
])("an incompatible migration: %s", (sql) => {
  expect(findIncompatibleStatements(sql)).toHaveLength(1);
});

test("an incompatible migration may declare the first build that no longer uses the removed part", () => {
  const directory = mkdtempSync(join(tmpdir(), "migrations-"));
  const write = (name: string, sql: string) => writeFileSync(join(directory, name), sql);
  write("0001_a.sql", "ALTER TABLE x DROP COLUMN a;");
  write("0002_b.sql", "ALTER TABLE x DROP COLUMN b;");
  write("0003_c.sql", "-- contract after 0002: c is unused since 0002\nALTER TABLE x DROP COLUMN c;");
  write("0004_d.sql", "-- contract after 0004: d is unused\nALTER TABLE x DROP COLUMN d;");
  expect(findIncompatibleMigrations(directory, { from: "0002" })).toEqual([
    "0002_b.sql: not known to leave the build before at work: ALTER TABLE x DROP COLUMN b",
    "0004_d.sql: a contract step comes after the migration that it names, 0004",
  ]);
  rmSync(directory, { recursive: true });
});
