import { readFileSync } from "node:fs";
import { parse as parseYaml } from "yaml";
import type { ZodError, ZodType } from "zod";
import { suggestSetting, normalizeKey } from "./suggest-setting.js";
import { isStringSchema, objectShape } from "./zod-introspection.js";

/** The configuration is invalid. The message lists each key with the rule it breaks. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

export interface ConfigSources {
  /** Service name, the prefix of environment variables. */
  readonly service: string;
  /** Command-line arguments after the program's name. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

type Tree = { [key: string]: unknown };

/**
 * Reads a service's configuration: the YAML file named by `--config` (repeat it to keep secrets in
 * a separate file), then environment variables (`FLYTE_TS_ADMIN_DATABASE__URL`, two underscores for
 * a level, case and single underscores ignored), then flags (`--database.url x`); later sources win
 * per key. Unknown keys and wrong types are refused.
 *
 * @throws ConfigError naming every wrong key, or the unreadable file.
 */
export function loadConfig<T>(schema: ZodType<T>, sources: ConfigSources): T {
  const flags = parseFlags(sources.argv);
  const tree: Tree = {};
  for (const file of flags.files) deepMerge(tree, readFile(file));
  const problems: string[] = [];
  for (const [path, value] of environmentValues(sources)) setAtPath(tree, { path, value, schema, problems });
  for (const [path, value] of flags.values) setAtPath(tree, { path, value, schema, problems });
  if (problems.length > 0) throw new ConfigError(`configuration of ${sources.service}: ${problems.join("; ")}`);
  // Compiling a parser takes longer than the single parse.
  const parsed = schema.safeParse(tree, { jitless: true });
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.flatMap((issue) => formatIssue(schema, issue));
  throw new ConfigError(`configuration of ${sources.service}: ${issues.join("; ")}`);
}

function formatIssue(schema: ZodType, issue: ZodError["issues"][number]): string[] {
  const path = issue.path.map(String);
  if (issue.code !== "unrecognized_keys") {
    const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
    return [`${path.join(".") || "(top level)"}: ${isMissing ? "required" : issue.message}`];
  }
  return issue.keys.map((key) => {
    const suggestion = suggestSetting(schema, issue.path, key);
    return `${[...path, key].join(".")}: unknown setting${suggestion === undefined ? "" : `; did you mean ${suggestion}?`}`;
  });
}

function readFile(file: string): Tree {
  try {
    const tree: unknown = parseYaml(readFileSync(file, "utf8")) ?? {};
    if (typeof tree !== "object" || Array.isArray(tree)) throw new Error("the top level must be a mapping");
    return tree as Tree;
  } catch (cause) {
    throw new ConfigError(`configuration file ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
  }
}

/** Deep-merges mappings; scalars and lists of `source` replace those of `target`. */
function deepMerge(target: Tree, source: Tree): void {
  for (const [key, value] of Object.entries(source)) {
    const previous = target[key];
    if (isTree(previous) && isTree(value)) deepMerge(previous, value);
    else target[key] = value;
  }
}

const isTree = (value: unknown): value is Tree => typeof value === "object" && value !== null && !Array.isArray(value);

function parseFlags(argv: readonly string[]): { files: string[]; values: [string[], string][] } {
  const values: [string[], string][] = [];
  const files: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const arg = argv[i] as string;
    if (!arg.startsWith("--")) throw new ConfigError(`unexpected argument ${JSON.stringify(arg)}: flags have the form --key value`);
    const equals = arg.indexOf("=");
    const key = arg.slice(2, equals < 0 ? undefined : equals);
    const value = equals < 0 ? argv[++i] : arg.slice(equals + 1);
    if (value === undefined) throw new ConfigError(`flag --${key} needs a value`);
    if (key === "config") files.push(value);
    else values.push([key.split("."), value]);
  }
  return { files, values };
}

function* environmentValues({ service, env }: ConfigSources): Generator<[string[], string]> {
  const prefix = `FLYTE_TS_${service.toUpperCase().replaceAll("-", "_")}_`;
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && name.startsWith(prefix)) yield [name.slice(prefix.length).split("__"), value];
  }
}

interface Assignment {
  readonly path: readonly string[];
  readonly value: string;
  readonly schema: ZodType;
  readonly problems: string[];
}

/** Sets a textual value at a path; keys match the schema's regardless of case and `_`. */
function setAtPath(tree: Tree, { path, value, schema, problems }: Assignment): void {
  let node = tree;
  let shape: unknown = schema;
  for (const [depth, segment] of path.entries()) {
    const keys = Object.keys(objectShape(shape) ?? {});
    const key = keys.find((k) => normalizeKey(k) === normalizeKey(segment)) ?? segment;
    shape = objectShape(shape)?.[key];
    // Text settings are not parsed: a password may consist of digits, or contain a `#`.
    if (depth === path.length - 1) node[key] = isStringSchema(shape) ? value : parseYamlValue(value);
    else {
      const next = node[key] ?? {};
      if (typeof next !== "object" || next === null || Array.isArray(next)) {
        problems.push(`${path.join(".")}: ${key} is not an object`);
        return;
      }
      node[key] = next;
      node = next as Tree;
    }
  }
}

/** Parses YAML scalars, lists and mappings: `5`, `true`, `[a, b]`; everything else is text. */
function parseYamlValue(text: string): unknown {
  try {
    return parseYaml(text) as unknown;
  } catch {
    return text;
  }
}
