import { captureTail, cacheDir, isExecutable, findOnPath, replaceAtomically, createOnce } from "@flyte-ts/host";
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { InstallOptions } from "./install-options.js";
import { ServerStartError } from "@flyte-ts/local-servers";

export interface GoProgram {
  /** Name of the program; with the version also of the file in the cache. */
  readonly name: string;
  readonly version: string;
  /**
   * Folder below `go/` whose go.mod pins the module and whose go.sum has the sums of all
   * dependencies.
   */
  readonly module: string;
  readonly mainPackage: string;
  readonly linkerFlags?: string;
  /** Environment variable that names a program to use instead. */
  readonly overrideVariable: string;
}

/**
 * Finds the program: its variable, the cache, or the PATH; else builds it from its Go module into
 * the cache, where concurrent callers share one build.
 *
 * @throws ServerStartError when building is not allowed, Go is missing or the build fails.
 */
export async function findGoProgram(program: GoProgram, { onProgress, install = true }: InstallOptions = {}): Promise<string> {
  const override = process.env[program.overrideVariable];
  if (override) return override;
  const cached = join(cacheDir(), `${program.name}-${program.version}`);
  if (isExecutable(cached)) return cached;
  const found = findOnPath(program.name);
  if (found !== undefined) return found;
  if (!install) throw unavailable(program, "it was not found");
  if (findOnPath("go") === undefined) throw unavailable(program, "Go, which is needed to build it, is not on the PATH");
  const create = () => {
    onProgress?.(`${program.name} ${program.version}`);
    return replaceAtomically(cached, (staged) => build(program, staged));
  };
  await createOnce(cached, { exists: () => isExecutable(cached), create });
  return cached;
}

async function build(program: GoProgram, staged: string): Promise<void> {
  const flags = ["-mod=readonly", "-buildvcs=false", "-ldflags", `-s -w ${program.linkerFlags ?? ""}`];
  const child = spawn("go", ["build", ...flags, "-o", staged, program.mainPackage], {
    cwd: fileURLToPath(new URL(`../../go/${program.module}`, import.meta.url)),
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const errors = captureTail([child.stderr], 2_000);
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve).once("error", () => resolve(null)));
  if (status !== 0) throw unavailable(program, `it could not be built: ${errors().trim()}`);
}

function unavailable({ name, version, overrideVariable }: GoProgram, reason: string): ServerStartError {
  return new ServerStartError(`${name} ${version}: ${reason}\nPut it on the PATH, or name it in ${overrideVariable}.`);
}
