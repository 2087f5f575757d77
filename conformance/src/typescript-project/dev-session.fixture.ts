import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { testWatchdog } from "@flyte-ts/testing";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

const program = builtProgram(join(root, "packages", "sdk-cli"));
/** Packages that a project finds in this repository. */
const LINKED = ["@flyte-ts/sdk", "@flyte-ts/runtime", "@flyte-ts/cli", "@types/node", "typescript", "undici-types"];

/** A project that `init` wrote, with the packages of this repository. */
export interface NewProject {
  readonly folder: string;
  /** Path of the module with the workflow. */
  readonly module: string;
  remove(): void;
}

export function newProject(): NewProject {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-dev-"));
  execFileSync(process.execPath, [program, "init", "--yes", "--no-install", folder]);
  for (const name of LINKED) {
    mkdirSync(join(folder, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
  }
  return { folder, module: join(folder, "src", "flows", "hello.ts"), remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A running `flyte-ts dev`. */
export class DevSession {
  readonly #child: ChildProcess;
  #output = "";
  #read = 0;

  constructor({ folder }: NewProject, args: readonly string[], endpoint = "localhost:1") {
    const env = { ...process.env, FLYTE_PLATFORM_URL: endpoint, NODE_OPTIONS: "" };
    this.#child = spawn(process.execPath, [program, "dev", ...args], { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
    testWatchdog().watch(this.#child, "SIGTERM");
    for (const stream of [this.#child.stdout, this.#child.stderr])
      stream?.setEncoding("utf8").on("data", (part: string) => {
        this.#output += part;
      });
  }

  /** All output, for messages of failures. */
  get output(): string {
    return this.#output;
  }

  /** Resolves to the output since the last call, up to a text that it waits for. */
  async until(text: string): Promise<string> {
    for (;;) {
      const at = this.#output.indexOf(text, this.#read);
      if (at >= 0) {
        const end = at + text.length;
        const part = this.#output.slice(this.#read, end);
        this.#read = end;
        return part;
      }
      if (this.#child.exitCode !== null) throw new Error(`dev has ended before ${text}:\n${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Lists the processes that the session started and that run. */
  descendants(): readonly number[] {
    const table = execFileSync("ps", ["-A", "-o", "pid=,ppid=,comm="], { encoding: "utf8" });
    const rows = table
      .trim()
      .split("\n")
      .map((line) => /(\d+)\s+(\d+)\s+(.*)/.exec(line) ?? []);
    const found = new Set([this.#child.pid]);
    for (let size = 0; size < found.size; ) {
      size = found.size;
      for (const [, pid, parent, command] of rows) if (command !== "ps" && found.has(Number(parent))) found.add(Number(pid));
    }
    return [...found].flatMap((pid) => (pid === undefined || pid === this.#child.pid ? [] : [pid]));
  }

  /** Ends the session as Ctrl-C does. Resolves to its exit status. */
  async interrupt(): Promise<number | null> {
    const ended = new Promise<number | null>((resolve) => this.#child.once("exit", resolve));
    this.#child.kill("SIGINT");
    return ended;
  }
}

/** Replaces a text of a file, as an editor saves. Returns the time of the save. */
export function save(file: string, from: string, to: string): number {
  const text = readFileSync(file, "utf8");
  if (!text.includes(from)) throw new Error(`${file} does not contain ${from}`);
  const changed = text.replace(from, to);
  const at = performance.now();
  writeFileSync(file, changed);
  return at;
}

/** True while a process exists. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
