import { readFileSync } from "node:fs";
import { UsageError } from "../usage-error.js";

export interface RunFlags {
  readonly own: readonly string[];
  /** Inputs of the entity by name. */
  readonly inputs: Readonly<Record<string, unknown>>;
}

/**
 * Divides the arguments after FILE and EXPORT into the verb's own flags and inputs. A value is read
 * as JSON where it is JSON, else it is a text.
 */
export function splitFlags(argv: readonly string[], ownFlags: ReadonlyMap<string, boolean>): RunFlags {
  const own: string[] = [];
  const inputs: Record<string, unknown> = {};
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? "";
    const [, name, inline] = /^--([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    const takesValue = name === undefined ? undefined : ownFlags.get(name);
    if (name === undefined || takesValue !== undefined) {
      own.push(word);
      if (takesValue === true && inline === undefined) own.push(argv[++at] ?? "");
      continue;
    }
    const value = inline ?? argv[++at];
    if (value === undefined) throw new UsageError(`the input --${name} has no value`);
    inputs[name] = parseValue(value);
  }
  return { own, inputs };
}

/** Reads a JSON file with inputs. */
export function readInputs(file: string | undefined): Readonly<Record<string, unknown>> {
  if (file === undefined) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw new UsageError(`--inputs: ${file} cannot be read as JSON: ${(cause as Error).message}`, { cause });
  }
}

/** Reads `NAME=VALUE` of each gate. */
export function parseSignals(signals: readonly string[]): Readonly<Record<string, unknown>> {
  const entries = signals.map((signal) => {
    const at = signal.indexOf("=");
    if (at <= 0) throw new UsageError(`--signal ${signal}: write NAME=VALUE`);
    return [signal.slice(0, at), parseValue(signal.slice(at + 1))] as const;
  });
  return Object.fromEntries(entries);
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
