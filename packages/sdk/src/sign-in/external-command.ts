import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { SignInError } from "./request-token.js";

/** Time for the command, ms. */
const TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1 << 20;

/** Returns the token that a command prints, as `admin.command` of flytectl's file names it. */
export async function commandToken([program = "", ...words]: readonly string[]): Promise<string> {
  const run = promisify(execFile);
  const { stdout } = await run(program, words, { timeout: TIMEOUT_MS, maxBuffer: MAX_OUTPUT_BYTES }).catch((cause: Error) => {
    throw new SignInError("command_failed", `the command for tokens failed: ${cause.message.trim()}`, { cause });
  });
  const token = stdout.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new SignInError("command_failed", `${program} prints no token`);
  return token;
}
