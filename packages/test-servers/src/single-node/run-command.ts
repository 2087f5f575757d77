import { execFile } from "node:child_process";

/**
 * Runs a program to its end and returns its output. @throws Error with its messages when it fails
 */
export function runCommand(program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(program, args, { encoding: "utf8", maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${program} ${args.join(" ")}: ${stderr.trim() || error.message}`, { cause: error }));
      else resolve(stdout);
    });
  });
}
