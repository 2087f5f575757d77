import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { UsageError } from "./usage-error.js";

/** Parses the arguments of a verb. @throws UsageError that names the flag */
export function parseFlags<Options extends ParseArgsOptionsConfig>(argv: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options });
  } catch (cause) {
    // Node appends advice about words that begin with a dash.
    const [problem = ""] = (cause as Error).message.split(/\.(?:\s|$)/);
    throw new UsageError(`${problem}; --help lists the flags`, { cause });
  }
}
