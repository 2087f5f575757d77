import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { join } from "node:path";
import { sendSignal } from "../container/process-reaper.js";
import { isClaimed } from "../container/run-dir.js";
import { RUNNER_NAME } from "../container/runner-script.js";
import type { StartRequest, WarmStart } from "./warm-start.js";

/**
 * Runner of a spare. Arguments: the spare's folder, then the command. As the runner of a container,
 * it leads the session, outlives the service, and writes the exit code. The spare claims the run
 * for it, and tells it the run by the file `run`.
 */
const SPARE_RUNNER_SCRIPT = `
spare=$1
shift
trap : HUP INT QUIT TERM USR1 USR2 ALRM
"$@" < /dev/null >> "$spare/log" 2>&1
code=$?
if [ -e "$spare/run" ]; then
  IFS= read -r run < "$spare/run"
  echo "$code" > "$run/exit"
  rm -rf "$spare"
fi
exit "$code"
`;

/** Time in which a spare must claim the run that it was told, ms. */
const CLAIM_TIMEOUT_MS = 10_000;
/** Room for the arguments of a task where the kernel shows them, bytes. */
const ARGUMENT_ROOM = 1_536;

export interface SpareStart {
  /** Folder of all spares. */
  readonly parent: string;
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly digest: string | undefined;
}

/** A process that has loaded the entry point of TypeScript tasks, and becomes one of them. */
export class NodeSpare {
  /** Resolves to true when it has loaded, and to false when it ended before. */
  readonly ready: Promise<boolean>;
  /** Resolves with the runner's exit status, negative for a signal. */
  readonly exited: Promise<number | undefined>;
  readonly #child: ChildProcess;
  readonly #control: Socket;
  readonly #ready = Promise.withResolvers<boolean>();
  readonly #answer = Promise.withResolvers<"started" | "taken" | "exited">();
  #isReady = false;
  #problem = "";
  #rest = "";

  constructor({ parent, program, environment, digest = "" }: SpareStart) {
    this.ready = this.#ready.promise;
    mkdirSync(parent, { recursive: true, mode: 0o700 });
    const folder = mkdtempSync(join(parent, "spare-"));
    const command = [program, "--spare", folder, digest, " ".repeat(ARGUMENT_ROOM)];
    this.#child = spawn("/bin/sh", ["-c", SPARE_RUNNER_SCRIPT, RUNNER_NAME, folder, ...command], {
      cwd: "/",
      env: environment,
      stdio: ["ignore", "ignore", "ignore", "pipe"],
      detached: true,
    });
    this.#child.unref();
    this.#control = this.#child.stdio[3] as Socket;
    this.#control.unref();
    this.#control.on("data", (chunk: Buffer) => this.#read(chunk.toString("latin1")));
    // The runner's exit tells what happened.
    this.#control.on("error", () => undefined);
    const { promise, resolve } = Promise.withResolvers<number | undefined>();
    this.exited = promise;
    this.#child.once("exit", (code, signal) => resolve(signal === null ? (code ?? undefined) : signal === "SIGTERM" ? -15 : -9));
    this.#child.once("error", () => resolve(undefined));
    void promise.then(() => {
      this.#problem = outputOf(folder);
      this.#ready.resolve(false);
      this.#answer.resolve("exited");
      rmSync(folder, { recursive: true, force: true });
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** Makes it a run. Nothing was started when it answers `declined`. */
  async become(request: StartRequest): Promise<WarmStart> {
    this.#control.write(`${JSON.stringify(request)}\n`);
    const timer = setTimeout(() => this.kill(), CLAIM_TIMEOUT_MS);
    const answer = await this.#answer.promise;
    clearTimeout(timer);
    const { pid } = this.#child;
    if (answer === "started" && pid !== undefined) return { kind: "started", pid, ended: this.exited };
    // A spare that ended may have claimed the run before: it must not start a second time.
    return { kind: answer === "taken" || isClaimed({ path: request.run, attempt: 0 }) ? "taken" : "declined" };
  }

  /** Ends it, unless it has become a run. */
  end(): void {
    this.#control.end();
  }

  kill(): void {
    if (this.#child.pid !== undefined) sendSignal(-this.#child.pid, "SIGKILL");
  }

  /** Output before it ended without a run. */
  get problem(): string {
    return this.#problem;
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line === "ready") {
        this.#isReady = true;
        this.#ready.resolve(true);
      } else if (line === "started" || line === "taken") this.#answer.resolve(line);
    }
  }
}

/** Returns the end of a spare's output; empty for one that has become a run. */
function outputOf(folder: string): string {
  try {
    return readFileSync(join(folder, "log"), "utf8").trim().slice(-500);
  } catch {
    return "";
  }
}

/**
 * Removes the files of spares that an earlier service left behind; runners of runs need theirs.
 */
export function removeOldSpares(parent: string): void {
  if (!existsSync(parent)) return;
  for (const name of readdirSync(parent))
    if (!existsSync(join(parent, name, "run"))) rmSync(join(parent, name), { recursive: true, force: true });
}
