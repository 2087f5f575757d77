import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../repository.js";
import { trackedFiles } from "./tracked-files.js";

/** Commands of npm itself, which need no script of package.json. */
const NPM_COMMANDS = ["ci", "install"];
/** First words of the commands that are checked. */
const PROGRAMS = ["npm", "npx", "node", "flyte-ts"];

const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly scripts: Record<string, string> };
const files = trackedFiles();
const help = readFileSync(join(root, "docs", "reference", "cli.md"), "utf8");
const subCommands = new Set([...help.matchAll(/^(?:usage:)? +flyte-ts (\w+)/gm)].map(([, name]) => name));
const nightly = readFileSync(join(root, "scripts", "nightly.mjs"), "utf8");
const cliSource = trackedFiles("packages/cli/src/*.ts", "packages/sdk-cli/src/*.ts", "packages/*stack*/src/*.ts")
  .map((file) => readFileSync(join(root, file), "utf8"))
  .join("\n");

/**
 * Extracts the command lines of a document: lines of code blocks, and inline code that begins with
 * a program.
 */
export function documentedCommands(text: string): string[] {
  const blocks = [...text.matchAll(/^ *```(?:sh|console)?\n([^]*?)^ *```/gm)].map(([, body = ""]) => body.replaceAll(/\\\n\s*/g, ""));
  const inline = [...text.replaceAll(/^ *```[^]*?^ *```/gm, "").matchAll(/`([^`]+)`/g)].map(([, code = ""]) =>
    code.replaceAll(/\s+/g, " "),
  );
  const lines = [...blocks.flatMap((body) => body.split("\n")), ...inline].map((line) => withoutPrefix(line.trim()));
  return lines.filter((line) => PROGRAMS.some((program) => line.startsWith(`${program} `)));
}

/** Removes a prompt, environment variables, `sudo` and a comment at the end. */
function withoutPrefix(line: string): string {
  return line
    .replace(/^\$ /, "")
    .replace(/^(?:[A-Z_]+=\S* )+/, "")
    .replace(/^(?:sudo|exec) /, "")
    .replace(/ +#.*$/, "");
}

/**
 * Explains why a documented command cannot be run; undefined when everything that it names exists.
 */
export function commandProblem(line: string): string | undefined {
  const [program = "", first = "", ...rest] = line.split(/ +/);
  if (program === "flyte-ts") return cliProblem(first, rest);
  if (program === "node") return first.startsWith("-") ? undefined : missingFile(first);
  if (program === "npx") {
    const at = [first, ...rest].indexOf("flyte-ts");
    return at < 0 ? undefined : cliProblem([first, ...rest][at + 1] ?? "--help", [first, ...rest].slice(at + 2));
  }
  return npmProblem(first, rest);
}

function npmProblem(command: string, rest: readonly string[]): string | undefined {
  const script = command === "run" ? (rest[0] ?? "") : command;
  if (!(script in scripts)) return NPM_COMMANDS.includes(script) ? undefined : `package.json has no script ${script}`;
  const at = rest.indexOf("--");
  const args = at < 0 ? [] : rest.slice(at + 1);
  if (script === "start") return cliProblem("start", args);
  if (script === "test")
    return args
      .filter((arg) => arg.includes("/") && !arg.includes("NAME"))
      .map(missingTests)
      .find((problem) => problem !== undefined);
  if (script !== "nightly") return undefined;
  const part = args.find((name) => !new RegExp(`[ {"]${name}"?:`).test(nightly));
  return part === undefined ? undefined : `scripts/nightly.mjs has no part ${part}`;
}

function cliProblem(command: string, args: readonly string[]): string | undefined {
  if (command.startsWith("-")) return undefined;
  if (!subCommands.has(command)) return `flyte-ts has no command ${command}`;
  // Capitals stand for a name that the user fills in.
  const flags = args.flatMap((arg) => /^\[?--(?:no-)?(?![A-Z]+\b)([\w.-]+)/.exec(arg)?.[1] ?? []);
  const unknown = flags.find((flag) => !isDeclared(flag));
  return unknown === undefined ? undefined : `flyte-ts ${command} has no flag --${unknown}`;
}

/**
 * A flag is declared as a property in the source of the CLI; of `--databases.admin` that is
 * `databases`.
 */
function isDeclared(flag: string): boolean {
  const [key = ""] = flag.split(".");
  return flag === "config" || new RegExp(`[\\s{"]${key}"?:`).test(cliSource) || cliSource.includes(`"no-${flag}"`);
}

/** Checks a program of the repository by its source; `dist/…` may belong to any service. */
function missingFile(path: string): string | undefined {
  if (!/^[\w./-]+\.m?js$/.test(path) || existsSync(join(root, path))) return undefined;
  const source = path.replace(/(^|\/)dist\//, "$1src/").replace(/\.js$/, ".ts");
  return files.some((file) => file === source || file.endsWith(`/${source}`)) ? undefined : `${path} does not exist`;
}

const missingTests = (path: string): string | undefined =>
  files.some((file) => file.includes(path) && /\.(?:test|fuzz\.test)\.ts$/.test(file)) ? undefined : `no test matches ${path}`;

/**
 * Lists the paths of the repository in inline code that do not exist. Patterns and placeholders are
 * skipped.
 */
export function missingPaths(text: string): string[] {
  const inline = [...text.replaceAll(/^ *```[^]*?^ *```/gm, "").matchAll(/`([^`\s]+)`/g)].map(([, code = ""]) => code);
  const paths = inline.filter((code) => /^(?:packages|services|conformance|scripts|deploy|bench|examples|idl|docs)\/[\w./-]+$/.test(code));
  return paths.filter((path) => !/NAME|PART|OVERLAY|MINE|NNNN/.test(path) && !existsSync(join(root, path)));
}
