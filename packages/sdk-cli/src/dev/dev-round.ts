import { type LoadedBundle, makeBundle } from "../bundling/make-bundle.js";
import { checkBundle } from "../check/check-bundle.js";
import type { Project } from "../project/project.js";
import { registerProject } from "../register/register-project.js";
import { connectTo } from "../register/server.js";
import { findTarget } from "../run/find-target.js";
import { runHere } from "../run/run-here.js";
import { followExecution, startExecution } from "../run/run-remote.js";
import { checkTypes } from "../types/check-types.js";
import { until } from "./until.js";

/** Entity that runs after each save. */
export interface DevTarget {
  /** Absolute path. */
  readonly file: string;
  readonly name: string;
  readonly inputs: Readonly<Record<string, unknown>>;
}

export interface DevOptions {
  readonly load: () => Promise<Project>;
  readonly target: DevTarget | undefined;
  /** Register the project, and run the entity on the server. */
  readonly remote: boolean;
  readonly write: (text: string) => void;
}

/** The work after one save: checks, then the run. */
export class DevRound {
  #bundle: Promise<LoadedBundle> | undefined;
  readonly #start = performance.now();

  constructor(private readonly options: DevOptions) {}

  /** Resolves when the work is done, or soon after the signal is aborted; never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    try {
      await this.#checkAndRun(signal);
    } catch (error) {
      if (!signal.aborted) this.options.write(`${messageOf(error)}\n`);
    } finally {
      await this.#bundle?.then(
        ({ host }) => host.close(),
        () => undefined,
      );
    }
  }

  async #checkAndRun(signal: AbortSignal): Promise<void> {
    const project = await this.options.load();
    const types = this.#checkTypes(project, signal);
    this.#bundle = makeBundle(project, this.options.remote ? "registered" : "local");
    this.#bundle.catch(() => undefined);
    const isSound = await types;
    const bundle = await this.#bundle;
    if (!isSound || signal.aborted) return;
    await until(signal, this.options.remote ? this.#runOnServer(project, bundle, signal) : this.#runHere(project, bundle));
  }

  /** Told as soon as it is known, whatever else is under way. */
  async #checkTypes(project: Project, signal: AbortSignal): Promise<boolean> {
    const { text, isSound } = await checkTypes(project.root, signal);
    if (text !== "" && !signal.aborted) this.options.write(isSound ? text : `${text}types have mistakes (${this.#elapsed()})\n`);
    return isSound;
  }

  async #runHere(project: Project, bundle: LoadedBundle): Promise<void> {
    const { target, write } = this.options;
    const problems = await checkBundle(project, bundle);
    for (const problem of problems) write(`${problem}\n`);
    if (problems.length > 0) return;
    write(`types and graphs are sound (${this.#elapsed()})\n`);
    if (target === undefined) return;
    await runHere({ project, bundle, target: findTarget(project, bundle, target), inputs: target.inputs });
    write(`ran after ${this.#elapsed()}\n`);
  }

  /**
   * Registers and runs; the server compiles the graphs itself. Saving a file ends the wait, not the
   * execution.
   */
  async #runOnServer(project: Project, bundle: LoadedBundle, signal: AbortSignal): Promise<void> {
    const { target, write } = this.options;
    const client = connectTo(project.endpoint);
    try {
      const { version, created } = await registerProject(client, { project, bundle }, { activate: false });
      write(`${created === undefined ? "nothing is new in" : "registered"} version ${version} (${this.#elapsed()})\n`);
      if (target === undefined) return;
      const found = findTarget(project, bundle, target);
      const run = { project, bundle, target: found, inputs: target.inputs, version, wait: false };
      const name = await startExecution(client, run, version);
      if (signal.aborted) return;
      write(`started ${name} (${this.#elapsed()})\n`);
      await followExecution(client, run, { name, write, signal });
      if (!signal.aborted) write(`ended after ${this.#elapsed()}\n`);
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      client.close();
    }
  }

  #elapsed(): string {
    return `${Math.round(performance.now() - this.#start)} ms`;
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return ["UsageError", "ProjectError", "RpcError", "ServerError"].includes(error.name) ? error.message : (error.stack ?? error.message);
}
