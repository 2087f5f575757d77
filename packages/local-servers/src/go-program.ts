import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cacheFolder, executable, onPath } from "./cache-folder.js";
import type { FindOptions } from "./find-options.js";
import { complete, madeOnce } from "./made-once.js";
import { ServerStartError } from "./server-process.js";

export interface GoProgram {
  /** Name of the program; with the version also of the file in the cache. */
  readonly name: string;
  readonly version: string;
  /** Folder below `go/` whose go.mod pins the module and whose go.sum has the sums of all dependencies. */
  readonly module: string;
  readonly package: string;
  readonly linkerFlags?: string;
  /** Environment variable that names a program to use instead. */
  readonly variable: string;
}

/**
 * Finds the program: its variable, the cache, or the PATH; else builds it from its Go module into the cache, where
 * concurrent callers share one build.
 *
 * @throws ServerStartError when building is not allowed, Go is missing or the build fails.
 */
export async function findGoProgram(program: GoProgram, { onBuild, get = true }: FindOptions = {}): Promise<string> {
  const named = process.env[program.variable];
  if (named) return named;
  const cached = join(cacheFolder(), `${program.name}-${program.version}`);
  if (executable(cached)) return cached;
  const found = onPath(program.name);
  if (found !== undefined) return found;
  if (!get) throw missing(program, "it is not there");
  if (onPath("go") === undefined) throw missing(program, "there is no Go on the PATH to build it with");
  const make = () => {
    onBuild?.(`${program.name} ${program.version}`);
    return complete(cached, (staged) => build(program, staged));
  };
  await madeOnce(cached, { isThere: () => executable(cached), make });
  return cached;
}

async function build(program: GoProgram, staged: string): Promise<void> {
  const flags = ["-mod=readonly", "-buildvcs=false", "-ldflags", `-s -w ${program.linkerFlags ?? ""}`];
  const child = spawn("go", ["build", ...flags, "-o", staged, program.package], {
    cwd: fileURLToPath(new URL(`../go/${program.module}`, import.meta.url)),
    env: { ...process.env, CGO_ENABLED: "0", GOWORK: "off", GOFLAGS: "" },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => {
    errors = (errors + chunk.toString()).slice(-2_000);
  });
  const status = await new Promise<number | null>((resolve) => child.once("exit", resolve).once("error", () => resolve(null)));
  if (status !== 0) throw missing(program, `it could not be built: ${errors.trim()}`);
}

function missing({ name, version, variable }: GoProgram, why: string): ServerStartError {
  return new ServerStartError(`${name} ${version}: ${why}\nPut it on the PATH, or name it in ${variable}.`);
}
