import { spawn } from "node:child_process";
import { captureTail } from "./capture-tail.js";

/** Maximum of output to keep, characters. */
const MAX_OUTPUT_CHARS = 1 << 20;

/** Number of output lines in the error of a failure. */
const ERROR_LINES = 12;

export interface RunProgramOptions {
  /** Aborts the program. */
  readonly signal?: AbortSignal | undefined;
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Text for its standard input. Default: none. */
  readonly input?: string;
}

/**
 * Runs a program. @returns its standard output, trimmed. @throws Error with the last lines of its
 * output when it fails.
 */
export function runProgram(command: string, args: readonly string[], options: RunProgramOptions = {}): Promise<string> {
  const { signal, cwd, env, input = "" } = options;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      stdio: ["pipe", "pipe", "pipe"],
      ...(signal && { signal }),
      ...(cwd !== undefined && { cwd }),
      ...(env && { env }),
    });
    const output = captureTail([child.stdout], MAX_OUTPUT_CHARS);
    const all = captureTail([child.stdout, child.stderr], MAX_OUTPUT_CHARS);
    // A program that ends before it has read reports the reason itself.
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
    child.once("error", reject);
    child.once("close", (code, ended) => {
      const last = all().trim().split("\n").slice(-ERROR_LINES).join("\n");
      if (code === 0) resolve(output().trim());
      else reject(new Error(`${command} ${args.slice(0, 3).join(" ")} … ended with ${ended ?? `status ${code}`}: ${last}`));
    });
  });
}
