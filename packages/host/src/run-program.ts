import { spawn } from "node:child_process";

/** Maximum of output to keep, characters. */
const MAX_OUTPUT_CHARS = 1 << 20;

/** Number of output lines in the error of a failure. */
const ERROR_LINES = 12;

/** Runs a program. @returns its standard output. @throws Error with the last lines of its output when it fails. */
export function runProgram(command: string, args: readonly string[], signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], signal });
    let text = "";
    let all = "";
    child.stdout.on("data", (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-MAX_OUTPUT_CHARS);
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream.on("data", (chunk: Buffer) => {
        all = (all + chunk.toString()).slice(-MAX_OUTPUT_CHARS);
      });
    }
    child.once("error", reject);
    child.once("close", (code, ended) => {
      const last = all.trim().split("\n").slice(-ERROR_LINES).join("\n");
      if (code === 0) resolve(text.trim());
      else reject(new Error(`${command} ${args.slice(0, 3).join(" ")} … ended with ${ended ?? `status ${code}`}: ${last}`));
    });
  });
}
