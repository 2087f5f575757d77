// Checks comments and test titles: a verb or a noun opens them, and they name the actor.
import { readFileSync } from "node:fs";
import { relative, resolve } from "node:path";
import { parseSync, Visitor } from "oxc-parser";
import { root } from "./prepare.mjs";
import { sourceFiles } from "./source-files.mjs";

const MAX_COLUMNS = 100;
const COMMENT_LINE = /^\s*(\/\/|\/\*\*?|\*) /;
/** Lines of directives, tables and single long words such as URLs. */
const UNBREAKABLE = /biome-|oxlint-|@ts-|\* \||^\s*(\/\/|\*) \S+$/;
const OPENING = /^(?:@(?:param\s+\S+|returns?|throws)\s+)?["'`(]*(What|Who|Whose|Whoever|Of|Whether|So|That)\b/i;
/** Definitions of other projects, with their own comments. */
const FOREIGN = /^idl\/(google|grpc)\//;
/** Strings, which are skipped, and comments of Protocol Buffers. */
const PROTO_TOKEN = /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|\/\/(?<line>.*)|\/\*(?<block>[^]*?)\*\//g;
/** Functions of vitest whose first argument is a title. */
const TITLED = new Set(["test", "it", "describe", "suite"]);
const UNNAMED = /\b(nobody|somebody|likes|whoever)\b/i;

// Arguments name folders to check instead of the whole repository.
const folders = process.argv.length > 2 ? process.argv.slice(2) : ["."];
const problems = [];
for (const folder of folders)
  for (const file of sourceFiles(resolve(root, folder), /\.(tsx?|mjs|proto)$/)) if (!FOREIGN.test(relative(root, file))) check(file);
for (const problem of problems) console.error(problem);
process.exit(problems.length > 0 ? 1 : 0);

function check(file) {
  const text = readFileSync(file, "utf8");
  for (const [index, line] of text.split("\n").entries()) {
    if (line.length > MAX_COLUMNS && COMMENT_LINE.test(line) && !UNBREAKABLE.test(line))
      problems.push(`${relative(root, file)}:${index + 1}: a line of a comment has ${line.length} columns; at most ${MAX_COLUMNS}`);
  }
  const place = (start) => `${relative(root, file)}:${text.slice(0, start).split("\n").length}`;
  const parsed = file.endsWith(".proto") ? undefined : parseSync(file, text);
  for (const { start, body } of commentsOf(text, parsed?.comments ?? protoComments(text))) checkWords(`${place(start)}: a comment`, body);
  if (parsed !== undefined && /(^|[^.\w])(test|it|describe|suite)[.(]/.test(text))
    for (const { kind, start, title } of titlesOf(parsed.program)) checkWords(`${place(start)}: ${kind}`, title, kind === "a title");
}

function checkWords(where, body, isWhole = true) {
  for (const part of isWhole ? body.split(/(?=@(?:param|returns?|throws)\s)/) : []) {
    const opening = OPENING.exec(part)?.[1];
    if (opening !== undefined) problems.push(`${where} opens with "${opening}"; open it with a verb or a noun`);
  }
  const unnamed = UNNAMED.exec(body.replace(/`[^`]*`/g, ""))?.[1];
  if (unnamed !== undefined) problems.push(`${where} says "${unnamed}"; name the actor`);
}

/** Lists the titles of tests and the names of rows of `each`, which may be parts of a title. */
function titlesOf(program) {
  const found = [];
  const add = (kind, node) => {
    const title = node?.type === "Literal" ? node.value : node?.quasis?.map(({ value }) => value.cooked).join("…");
    if (typeof title === "string") found.push({ kind, start: node.start, title });
  };
  new Visitor({
    CallExpression({ callee, arguments: [first] }) {
      const chain = calleeNames(callee);
      if (!TITLED.has(chain[0])) return;
      add("a title", first);
      if (chain.at(-1) !== "each" || first?.type !== "ArrayExpression") return;
      for (const row of first.elements) add("a row", row?.type === "ArrayExpression" ? row.elements[0] : row);
    },
  }).visit(program);
  return found;
}

/** Returns the names of `test.skipIf(x).each(rows)` as `["test", "skipIf", "each"]`. */
function calleeNames(callee) {
  if (callee.type === "Identifier") return [callee.name];
  if (callee.type === "MemberExpression") return [...calleeNames(callee.object), callee.property.name];
  return callee.type === "CallExpression" ? calleeNames(callee.callee) : [];
}

/**
 * Lists the comments of a file without their markers; consecutive lines of `//` are one comment.
 */
function commentsOf(text, comments) {
  const found = [];
  let lineEnd;
  for (const { type, value, start, end } of comments) {
    const lines = type === "Block" ? value.split("\n").map((line) => line.replace(/^\s*\*/, "")) : [value];
    const body = lines
      .map((line) => line.trim())
      .join("\n")
      .trim();
    const continues = type === "Line" && lineEnd !== undefined && text.slice(lineEnd, start).trim() === "";
    if (continues && !text.slice(lineEnd, start).includes("\n\n")) found.at(-1).body += `\n${body}`;
    else found.push({ start, body });
    lineEnd = type === "Line" ? end : undefined;
  }
  return found;
}

/** Lists the comments of a `.proto` file in the form that oxc uses. */
function protoComments(text) {
  return [...text.matchAll(PROTO_TOKEN)].flatMap(({ 0: token, index: start, groups: { line, block } }) => {
    const value = line ?? block;
    if (value === undefined) return [];
    return [{ type: line === undefined ? "Block" : "Line", value, start, end: start + token.length }];
  });
}
