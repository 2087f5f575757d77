import { type ChildProcess, fork } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { BundleFile } from "../bundling/build-modules.js";
import type { BundlePurpose } from "../bundling/entry-source.js";
import { ProjectError } from "../project/project-error.js";
import type { HostAnswer, HostCall, HostCalls, HostStart } from "./messages.js";

/** Returns the program of the process: beside the chunks of a bundle, above those of a build. */
function hostProgram(): string {
  const folder = dirname(fileURLToPath(import.meta.url));
  const beside = join(folder, "host.js");
  return existsSync(beside) ? beside : join(folder, "..", "host.js");
}

/** Process that waits for its bundle. */
let prepared: ChildProcess | undefined;

function forkHost(flags: readonly string[] = []): ChildProcess {
  return fork(hostProgram(), flags, { execArgv: ["--enable-source-maps"], stdio: ["inherit", "inherit", "inherit", "ipc"] });
}

/**
 * A process that has loaded a bundle. Its modules are the author's: they run with their own state,
 * and end with it.
 */
export class EntityHost {
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #count = 0;

  private constructor(child: ChildProcess, folder: string) {
    this.#child = child;
    this.#folder = folder;
    child.on("message", (message) => this.#settle(message as HostAnswer));
    child.on("exit", (code) => {
      for (const { reject } of this.#waiting.values())
        reject(new ProjectError(`the project's modules ended the process with status ${code}`));
      this.#waiting.clear();
    });
  }

  /**
   * Starts the process of the next bundle, while that is made.
   *
   * @param purpose `local`: the process loads the SDK meanwhile, which such a bundle shares
   */
  static prepare(purpose: BundlePurpose): void {
    prepared ??= forkHost(purpose === "local" ? ["--preload"] : []);
  }

  /** Writes a bundle to a new folder outside of the project, and starts a process that loads it. */
  static start(files: readonly BundleFile[], options: { readonly cwd?: string } = {}): EntityHost {
    const folder = mkdtempSync(join(tmpdir(), "flyte-ts-project-"));
    for (const { path, content, executable = false } of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content, { mode: executable ? 0o755 : 0o644 });
    }
    const child = prepared ?? forkHost();
    prepared = undefined;
    child.send({ load: join(folder, "entry.mjs"), cwd: options.cwd ?? folder } satisfies HostStart);
    return new EntityHost(child, folder);
  }

  /** Folder of the bundle. */
  get folder(): string {
    return this.#folder;
  }

  /** @throws ProjectError with what the author has to mend */
  call<Call extends HostCall>(call: Call, request: HostCalls[Call]["request"]): Promise<HostCalls[Call]["answer"]> {
    const id = this.#count++;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    this.#child.send({ id, call, request });
    return waiting.promise as Promise<HostCalls[Call]["answer"]>;
  }

  /** Ends the process and deletes the folder. */
  close(): void {
    this.#child.removeAllListeners("exit");
    this.#child.kill("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #settle({ id, answer, error }: HostAnswer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new ProjectError(error));
  }
}
