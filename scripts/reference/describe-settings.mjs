// Node module hook (`node --import`): copies the documentation comment of each setting into its zod
// schema, so that `--print-schema` prints it as a description.
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { parseSync, Visitor } from "oxc-parser";

const HELPER = "__described";
const DEFINITION = `\nfunction ${HELPER}(value, text) { return typeof value?.describe === "function" ? value.describe(text) : value; }\n`;

registerHooks({
  load(url, context, nextLoad) {
    const isOwn = url.startsWith("file:") && url.includes("/dist/") && !url.includes("/node_modules/");
    const source = isOwn ? readFileSync(fileURLToPath(url), "utf8") : "";
    if (!/from "zod"/.test(source)) return nextLoad(url, context);
    return { format: "module", source: describeSettings(fileURLToPath(url), source), shortCircuit: true };
  },
});

/** Wraps the value of each property that has a documentation comment. */
function describeSettings(file, source) {
  const { program, comments } = parseSync(file, source);
  const documented = new Map();
  for (const { type, value, end } of comments) {
    if (type === "Block" && value.startsWith("*")) documented.set(end + /^\s*/.exec(source.slice(end))[0].length, plainText(value));
  }
  const insertions = [];
  const visitor = new Visitor({
    Property({ start, value, shorthand }) {
      const text = documented.get(start);
      if (text === undefined) return;
      const name = shorthand ? `${value.name}: ` : "";
      insertions.push([value.start, `${name}${HELPER}(`], [value.end, `, ${JSON.stringify(text)})`]);
    },
  });
  visitor.visit(program);
  insertions.sort(([a], [b]) => b - a);
  let result = source;
  for (const [at, text] of insertions) result = result.slice(0, at) + text + result.slice(at);
  return result + DEFINITION;
}

function plainText(comment) {
  return comment
    .replaceAll(/^\s*\*\s?/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
