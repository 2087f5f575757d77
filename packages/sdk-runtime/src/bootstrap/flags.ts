import { parseArgs } from "node:util";
import type { CodeSource, RunAddresses, RunRequest } from "../run-request.js";
import { BootstrapError } from "./bootstrap-error.js";

/** Arguments of `flyte-ts-execute`. */
export interface ExecuteFlags {
  readonly task: { readonly module: string; readonly name: string };
  readonly addresses: RunAddresses;
  readonly code: CodeSource;
  /** Inputs that are the same for all elements; absent for a task that maps nothing. */
  readonly map: RunRequest["map"];
}

const OPTIONS = {
  inputs: { type: "string" },
  "output-prefix": { type: "string" },
  "raw-output-data-prefix": { type: "string" },
  "checkpoint-path": { type: "string" },
  "prev-checkpoint": { type: "string" },
  bundle: { type: "string" },
  "bundle-digest": { type: "string" },
  entry: { type: "string" },
  map: { type: "boolean", default: false },
} as const;

/**
 * Parses the arguments of a task's container: the flags of flytekit's entry points, the code, and
 * after `--` the task: `task-module MODULE task-name NAME`, for a mapped one also `vars A,B`.
 *
 * @throws BootstrapError that names the flag
 */
export function parseFlags(argv: readonly string[]): ExecuteFlags {
  const { values, positionals } = parse(argv);
  const required = (name: "inputs" | "output-prefix" | "raw-output-data-prefix"): string => {
    const value = given(values[name]);
    if (value === undefined) throw usage(`--${name} is missing`);
    return value;
  };
  const { module, name, bound } = taskOf(positionals);
  return {
    task: { module, name },
    addresses: {
      inputs: required("inputs"),
      outputPrefix: required("output-prefix"),
      rawOutputPrefix: required("raw-output-data-prefix"),
      checkpoint: given(values["checkpoint-path"]),
      previousCheckpoint: given(values["prev-checkpoint"]),
    },
    code: codeSource(values),
    map: values.map ? { bound } : undefined,
  };
}

function taskOf(words: readonly string[]): { readonly module: string; readonly name: string; readonly bound: readonly string[] } {
  const [moduleWord, module, nameWord, name, boundWord, bound, ...more] = words;
  const isBound = boundWord === undefined || boundWord === "vars";
  if (moduleWord !== "task-module" || nameWord !== "task-name" || module === undefined || name === undefined || !isBound || more.length > 0)
    throw usage("after -- the task must follow as: task-module MODULE task-name NAME");
  return { module, name, bound: bound?.split(",").filter((input) => input !== "") ?? [] };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (cause) {
    const [problem = ""] = (cause as Error).message.split(/\.(?:\s|$)/);
    throw usage(problem);
  }
}

function codeSource(values: Readonly<Partial<Record<"bundle" | "bundle-digest" | "entry", string>>>): CodeSource {
  if (values.entry !== undefined) return { kind: "entry", path: values.entry };
  const digest = values["bundle-digest"];
  if (values.bundle === undefined || digest === undefined) throw usage("--bundle and --bundle-digest, or --entry, must name the code");
  if (!/^[0-9a-f]{64}$/.test(digest)) throw usage("--bundle-digest must be a SHA-256 in hex");
  return { kind: "bundle", uri: values.bundle, digest };
}

/**
 * Returns undefined for what servers pass when they have no value: nothing, a pair of quotes, or
 * the template itself.
 */
function given(value: string | undefined): string | undefined {
  return value === undefined || value === "" || value === '""' || /^\{\{.*\}\}$/.test(value) ? undefined : value;
}

const usage = (problem: string) =>
  new BootstrapError(`flyte-ts-execute: ${problem}`, { code: "USER:InvalidArguments", recoverable: false, origin: "user" });
