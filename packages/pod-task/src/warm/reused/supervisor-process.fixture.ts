import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { attempt, python, type ToyFlytekit } from "../toy-flytekit.fixture.js";
import { REUSED_SUPERVISOR } from "./supervisor.js";

/** The mark of an end. */
export interface End {
  readonly end: string;
  readonly code: number;
  readonly aborted: boolean;
  readonly stopped: boolean;
  readonly message: string;
  readonly retires: string | null;
  readonly imports?: readonly string[];
  readonly refused?: readonly string[];
}

const LIFETIME_SECONDS = 60;
export const TIMEOUT = { timeout: 30_000, interval: 20 };

export interface SupervisorOptions {
  readonly lifetime?: number;
  readonly most?: number;
  readonly growth?: number;
  /** Command that starts the supervisor. */
  readonly within?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

export type SupervisorProcess = ReturnType<SupervisorProcesses["start"]>;

/** Supervisors of reused pods as real processes, with the toy in place of flytekit. */
export class SupervisorProcesses {
  readonly #started: ChildProcess[] = [];

  constructor(private readonly toy: ToyFlytekit) {
    for (const name of ["tmp", "home", "shared"]) mkdirSync(join(toy.folder, name));
  }

  stop(): void {
    for (const child of this.#started) child.kill("SIGKILL");
  }

  /** Starts a supervisor, which `run` gives one attempt after the other. */
  start(entry: string, options: SupervisorOptions = {}) {
    const { lifetime = LIFETIME_SECONDS, most = 10, growth = 2 ** 50, within = [], variables = {} } = options;
    const { toy } = this;
    const file = join(toy.folder, "assignment");
    const shared = join(toy.folder, "shared");
    const args = [
      "-c",
      toy.confine(REUSED_SUPERVISOR),
      entry,
      Object.keys(attempt).join(","),
      file,
      String(lifetime),
      String(most),
      String(growth),
      shared,
    ];
    const environment = { ...toy.environment, TMPDIR: join(toy.folder, "tmp"), HOME: join(toy.folder, "home"), ...variables };
    const [program = "", ...words] = [...within, python, ...args];
    const child = spawn(program, words, { cwd: toy.directory, env: environment, stdio: ["ignore", "pipe", "pipe"] });
    this.#started.push(child);
    let [log, errors] = ["", ""];
    child.stdout.on("data", (data) => (log += String(data)));
    child.stderr.on("data", (data) => (errors += String(data)));
    const exit = new Promise<number | null>((resolve) => child.once("close", resolve));
    const payloads = (take: string, kind: string) =>
      log
        .split("\n")
        .slice(0, -1)
        .filter((line) => line.startsWith(`tag-${take}${kind} `))
        .map((line) => line.slice(`tag-${take}${kind} `.length));
    const ends = (take: string) => payloads(take, "=").flatMap((text) => ("end" in JSON.parse(text) ? [JSON.parse(text) as End] : []));
    const assign = (take: string, command: readonly string[], more: object = {}) =>
      toy.replaceFile(
        file,
        JSON.stringify({ take, tag: `tag-${take}`, command, env: { ...attempt, FLYTE_INTERNAL_EXECUTION_ID: take }, ...more }),
      );
    const output = (take: string) => payloads(take, "|").join("\n");
    const ended = async (take: string) => {
      await expect.poll(() => [ends(take).length > 0, errors], TIMEOUT).toEqual([true, ""]);
      return { ...(ends(take)[0] as End), out: output(take) };
    };
    const run = (take: string, command: readonly string[]) => {
      assign(take, command);
      return ended(take);
    };
    const preload = (load: readonly string[], refuse: readonly string[] = []) =>
      toy.replaceFile(join(toy.folder, "preload"), JSON.stringify({ load, refuse }));
    return { child, exit, assign, run, ended, output, ends, preload, acknowledge: () => toy.replaceFile(file, ""), log: () => log };
  }
}
