import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** Result of a check of a project's types. */
export interface TypeReport {
  readonly isSound: boolean;
  /** Mistakes as the compiler prints them, or the reason why nothing was checked. */
  readonly text: string;
}

/**
 * Checks the types of a project with its own TypeScript. The compiler keeps what it found below
 * `.flyte-ts`, so that the next check is short.
 *
 * @param signal ends the compiler; the report then says nothing
 */
export async function checkTypes(root: string, signal?: AbortSignal): Promise<TypeReport> {
  const config = join(root, "tsconfig.json");
  if (!existsSync(config)) return unchecked("the project has no tsconfig.json");
  const compiler = findCompiler(root);
  if (compiler === undefined) return unchecked("the project has no TypeScript; npm install -D typescript adds it");
  const state = join(root, ".flyte-ts", "types.tsbuildinfo");
  const flags = ["--noEmit", "--incremental", "--tsBuildInfoFile", state, "--pretty", String(process.stdout.isTTY === true)];
  const child = spawn(process.execPath, [compiler, "--project", config, ...flags], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
    // A process group of its own: `tsc` may start the compiler as a child, and both must end.
    detached: true,
  });
  const end = () => endGroup(child);
  signal?.addEventListener("abort", end);
  process.once("exit", end);
  try {
    const { status, text } = await outputOf(child);
    return { isSound: status === 0, text: signal?.aborted === true ? "" : text };
  } finally {
    signal?.removeEventListener("abort", end);
    process.removeListener("exit", end);
  }
}

const unchecked = (reason: string): TypeReport => ({ isSound: true, text: `types are not checked: ${reason}\n` });

function findCompiler(root: string): string | undefined {
  try {
    return join(dirname(createRequire(join(root, "package.json")).resolve("typescript/package.json")), "bin", "tsc");
  } catch {
    return undefined;
  }
}

function outputOf(child: ChildProcess): Promise<{ readonly status: number | null; readonly text: string }> {
  const parts: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8").on("data", (part: string) => parts.push(part));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (status) => resolve({ status, text: parts.join("") }));
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended.
  }
}
