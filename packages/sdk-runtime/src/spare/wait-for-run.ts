import { closeSync, existsSync, readFileSync, readSync, renameSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { bundleRoot } from "../bootstrap/bundle-root.js";
import type { BundleEntry } from "../run-request.js";
import { ENTRY_FILE, MANIFEST_FILE, type BundleManifest } from "../manifest.js";
import { overwriteArguments, overwriteVariable } from "./process-image.js";
import { rehearseRequest } from "./rehearse.js";

/** Run of a container that a spare becomes. */
export interface SpareRequest {
  /** Folder of the run's files: `pid`, `log` and `exit`. */
  readonly run: string;
  readonly command: readonly string[];
  /** All variables of the process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** Connection to the kubelet. */
const CONTROL = 3;
/** Variables that mark the processes of a pod; their place in /proc is reserved at the start. */
const MARKS = ["FLYTE_TS_POD_UID", "FLYTE_TS_CONTAINER"];

/**
 * Makes this process ready for any task, or for those of one bundle, and waits until it is told
 * which run it is. Then it has that run's environment, working directory, arguments and log, and
 * has claimed it. Its parent, the runner, writes the exit code.
 *
 * @param argv folder of the spare, and the digest of a bundle to load; more words only reserve room
 * @returns false when no run came, or another runner has claimed it
 */
export async function waitForRun([folder = "", digest = ""]: readonly string[]): Promise<boolean> {
  // Fails at once where the kernel does not allow it.
  for (const name of MARKS) overwriteVariable(name, process.env[name] ?? "");
  await preload(digest);
  writeSync(CONTROL, "ready\n");
  const request = readRequest();
  if (request === undefined || !claim(request.run)) return false;
  // The runner learns from this file where the exit code belongs.
  writeFileSync(join(folder, "run"), `${request.run}\n`);
  // Standard output and standard error are open on this file.
  renameSync(join(folder, "log"), join(request.run, "log"));
  become(request);
  writeSync(CONTROL, "started\n");
  closeSync(CONTROL);
  return true;
}

/** Loads what every task needs. The modules of the author are not among it. */
async function preload(digest: string): Promise<void> {
  await rehearseRequest();
  const folder = join(bundleRoot(process.env), digest);
  if (digest === "" || !existsSync(folder)) return;
  const { externals } = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), "utf8")) as BundleManifest;
  // Packages of an image are found from the working directory of a task.
  if (externals.length > 0) return;
  const entry = (await import(pathToFileURL(join(folder, ENTRY_FILE)).href)) as Partial<BundleEntry>;
  await entry.prepare?.();
}

/** Waits for a line; undefined when the kubelet needs this spare no more. */
function readRequest(): SpareRequest | undefined {
  const pieces: Buffer[] = [];
  for (;;) {
    const piece = Buffer.alloc(64 << 10);
    const length = readSync(CONTROL, piece);
    if (length === 0) return undefined;
    pieces.push(piece.subarray(0, length));
    if (piece[length - 1] === 10) return JSON.parse(Buffer.concat(pieces).toString("utf8")) as SpareRequest;
  }
}

/** Claims a run for the runner, as runners do: a file that is never overwritten. */
function claim(run: string): boolean {
  const stat = readFileSync(`/proc/${process.ppid}/stat`, "utf8");
  try {
    writeFileSync(join(run, "pid"), stat, { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    writeSync(CONTROL, "taken\n");
    return false;
  }
}

function become({ command, environment, directory }: SpareRequest): void {
  for (const name of Object.keys(process.env)) if (environment[name] === undefined) delete process.env[name];
  Object.assign(process.env, environment);
  process.chdir(directory);
  const [program = "", script = ""] = process.argv;
  process.argv = [program, script, ...command.slice(1)];
  for (const name of MARKS) overwriteVariable(name, environment[name] ?? "");
  overwriteArguments(command.slice(1));
}
