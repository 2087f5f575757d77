import type { Statement } from "./scan.js";

/** First words of statements that return rows. */
const READS = new Set(["select", "with", "from", "values", "table", "("]);
/** Words with which the rows of a WITH statement begin. */
const BODY = new Set(["select", "from", "values", "table", "("]);

/**
 * Wraps a statement that returns rows so that they are written as Parquet at an address. Returns
 * undefined for others, which write their results themselves.
 */
export function resultStatement({ text, words }: Statement, uri: string): string | undefined {
  const first = words[0]?.word ?? "";
  if (!READS.has(first) || words.some(({ word }) => word === "insert")) return undefined;
  const directory = `INSERT OVERWRITE DIRECTORY '${escaped(uri)}' STORED AS PARQUET\n`;
  if (first !== "with") return directory + text;
  const at = bodyOfWith(words);
  return at === undefined ? undefined : `${text.slice(0, at)}${directory}${text.slice(at)}`;
}

/** WITH name [(columns)] AS (query), … body: only `(` after a query begins a body. */
function bodyOfWith(words: Statement["words"]): number | undefined {
  return words.find(({ word }, index) => {
    if (index === 0 || !BODY.has(word)) return false;
    return word !== "(" || words[index - 1]?.word === "(";
  })?.at;
}

/** Hive and Spark read backslashes in texts as escapes. */
function escaped(uri: string): string {
  return uri.replace(/[\\']/g, "\\$&");
}
