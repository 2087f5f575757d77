// Prints the manifests of tree.mjs as YAML with Helm's template expressions.
import { Block, Document, OptionalBlock, Scalar, Spread, When } from "./tree.mjs";

/** @returns {string} lines, each with its newline */
export function print(object) {
  return `${map(object, 0).join("\n")}\n`;
}

function map(object, depth) {
  return Object.entries(object).flatMap(([key, value]) => entry(key, value, depth));
}

function entry(key, value, depth) {
  const start = `${" ".repeat(depth)}${scalar(key)}:`;
  const inner = depth + 2;
  if (value instanceof When) return [`{{- if ${value.condition} }}`, ...entry(key, value.value, depth), "{{- end }}"];
  if (value instanceof Spread) return spread(value, depth);
  if (value instanceof OptionalBlock)
    return [`{{- with ${value.expression} }}`, `${start} {{- toYaml . | nindent ${inner} }}`, "{{- end }}"];
  if (value instanceof Block) return [`${start} {{- toYaml ${value.expression} | nindent ${inner} }}`];
  if (value instanceof Document) return [`${start} |`, `${" ".repeat(inner)}{{- toYaml ${value.expression} | nindent ${inner} }}`];
  if (Array.isArray(value)) return value.length === 0 ? [`${start} []`] : [start, ...list(value, inner)];
  if (isMap(value)) return Object.keys(value).length === 0 ? [`${start} {}`] : [start, ...map(value, inner)];
  if (typeof value === "string" && value.includes("\n")) return [`${start} ${literal(value)}`, ...lines(value, inner)];
  return [`${start} ${scalar(value)}`];
}

function list(items, depth) {
  return items.flatMap((item) => {
    if (item instanceof When) return [`{{- if ${item.condition} }}`, ...list([item.value], depth), "{{- end }}"];
    if (item instanceof Spread) return spread(item, depth);
    if (!isMap(item)) return [`${" ".repeat(depth)}- ${scalar(item)}`];
    const [first, ...rest] = map(item, depth + 2);
    if (first.startsWith("{{")) throw new Error("the first entry of a list's item cannot be conditional");
    return [`${" ".repeat(depth)}- ${first.slice(depth + 2)}`, ...rest];
  });
}

function spread({ expression }, depth) {
  return [`{{- with ${expression} }}`, `{{- toYaml . | nindent ${depth} }}`, "{{- end }}"];
}

function isMap(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Scalar);
}

const NOT_TEXT = /^(?:true|false|null|yes|no|on|off|y|n)$/i;

function scalar(value) {
  if (value instanceof Scalar) return `{{ ${value.expression} }}`;
  if (typeof value !== "string") return JSON.stringify(value);
  const plain = /^[A-Za-z][A-Za-z0-9_./-]*$/.test(value) && !NOT_TEXT.test(value);
  return plain ? value : escape(JSON.stringify(value));
}

function literal(text) {
  if (!text.endsWith("\n")) return "|-";
  return text.endsWith("\n\n") ? "|+" : "|";
}

function lines(text, depth) {
  const all = text.split("\n");
  if (all.at(-1) === "") all.pop();
  return all.map((line) => (line === "" ? "" : `${" ".repeat(depth)}${escape(line)}`));
}

/** Escapes braces in text that Helm must not evaluate. */
function escape(text) {
  return text.replaceAll("{{", '{{ "{{" }}');
}
