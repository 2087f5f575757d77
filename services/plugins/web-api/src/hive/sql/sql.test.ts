import { describe, expect, it, test } from "vitest";
import { resultStatement } from "./result-statement.js";
import { splitStatements } from "./scan.js";

const texts = (script: string) => splitStatements(script).map(({ text }) => text);

test.each([
  ["SELECT 1", ["SELECT 1"]],
  ["SET a=b;\nSELECT 1;\n;", ["SET a=b", "SELECT 1"]],
  ['SELECT \';\' AS a, "x;\\";" , `c;d` FROM t; SELECT 2', ['SELECT \';\' AS a, "x;\\";" , `c;d` FROM t', "SELECT 2"]],
  ["SELECT 1 -- a; b\n; /* ; */ SELECT 2", ["SELECT 1 -- a; b", "/* ; */ SELECT 2"]],
  ["-- only a comment;\n", []],
  ["SELECT 'it\\'s;'; SELECT 'open;", ["SELECT 'it\\'s;'", "SELECT 'open;"]],
])("%j is split", (script, expected) => {
  expect(texts(script)).toEqual(expected);
});

test("a script of 1 MB is split within seconds", () => {
  const started = performance.now();
  expect(splitStatements("SELECT '((' ; ".repeat(75_000))).toHaveLength(75_000);
  expect(performance.now() - started).toBeLessThan(5_000);
});

describe("the statement that writes results", () => {
  const wrapped = (text: string) => splitStatements(text).map((statement) => resultStatement(statement, "s3a://b/it's"))[0];
  const into = "INSERT OVERWRITE DIRECTORY 's3a://b/it\\'s' STORED AS PARQUET\n";

  it.each([
    ["SELECT 1", `${into}SELECT 1`],
    ["VALUES (1)", `${into}VALUES (1)`],
    ["(SELECT 1) UNION ALL (SELECT 2)", `${into}(SELECT 1) UNION ALL (SELECT 2)`],
    ["from t select a", `${into}from t select a`],
    ["WITH a AS (SELECT 1), b (x) AS (SELECT 2) SELECT * FROM a, b", `WITH a AS (SELECT 1), b (x) AS (SELECT 2) ${into}SELECT * FROM a, b`],
    ["WITH a AS (SELECT 1) (SELECT * FROM a)", `WITH a AS (SELECT 1) ${into}(SELECT * FROM a)`],
  ])("wraps %j", (text, expected) => {
    expect(wrapped(text)).toBe(expected);
  });

  it.each([
    "INSERT INTO t SELECT 1",
    "FROM t INSERT INTO u SELECT *",
    "WITH a AS (SELECT 1) INSERT INTO t SELECT * FROM a",
    "DROP TABLE t",
    "SET a=b",
  ])("stays %j", (text) => {
    expect(wrapped(text)).toBeUndefined();
  });
});
