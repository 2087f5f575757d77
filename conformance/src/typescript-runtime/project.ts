import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtProgram } from "../stack/built-program.js";
import { root } from "../repository.js";

/** A copy of the TypeScript project of the tests, in a folder of its own. */
export interface TypeScriptProject {
  readonly folder: string;
  /** Runs `flyte-ts` in the project. */
  run(...args: string[]): CommandResult;
  /** Replaces a text of a file. */
  edit(file: string, from: string, to: string): void;
  remove(): void;
}

export interface CommandResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const SOURCE = join(root, "conformance", "typescript");

/** @param endpoint address of the API */
export function typeScriptProject(endpoint: string): TypeScriptProject {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-typescript-"));
  cpSync(SOURCE, folder, { recursive: true });
  mkdirSync(join(folder, "node_modules", "@flyte-ts"), { recursive: true });
  symlinkSync(join(root, "packages", "sdk"), join(folder, "node_modules", "@flyte-ts", "sdk"));
  return {
    folder,
    run: (...args) => runCommand({ folder, endpoint }, args),
    edit: (file, from, to) => {
      const text = readFileSync(join(folder, file), "utf8");
      if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
      writeFileSync(join(folder, file), text.replace(from, to));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Runs `flyte-ts` in the folder of a project. */
export function runCommand(
  { folder, endpoint }: { readonly folder: string; readonly endpoint: string },
  args: readonly string[],
): CommandResult {
  const program = builtProgram(join(root, "packages", "sdk-cli"));
  const env = { ...process.env, FLYTE_PLATFORM_URL: endpoint };
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd: folder, env, encoding: "utf8" });
  return { status, stdout, stderr };
}

/** Returns the version that a registration printed. */
export function versionIn({ stdout, stderr }: CommandResult): string {
  const version = /version (\S+?)(?:,|\n)/.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`nothing was registered:\n${stdout}\n${stderr}`);
  return version;
}
