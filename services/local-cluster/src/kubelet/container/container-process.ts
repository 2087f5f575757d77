import { spawn } from "node:child_process";
import { CONTAINER_ENV, sendSignal, POD_UID_ENV, type ProcessReaper } from "./process-reaper.js";
import { isAlive, isClaimed, readClaim, readExit, type RunDir } from "./run-dir.js";
import { hasCommandStarted, RUNNER_NAME, RUNNER_SCRIPT } from "./runner-script.js";
import type { PythonForkServerPool, ForkResult } from "./python-fork-server.js";

export interface ProcessExit {
  readonly exitCode: number;
  readonly finishedAt: number;
  /** The runner itself is gone without a word: killed with its group, or lost with the machine. */
  readonly lost: boolean;
}

export interface ProcessLaunch {
  readonly podUid: string;
  readonly container: string;
  readonly run: RunDir;
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly directory: string;
}

interface ProcessHandlers {
  readonly reaper: ProcessReaper;
  /** Starts what it can in place of a new process. */
  readonly forkServers?: PythonForkServerPool | undefined;
  readonly now: () => number;
  readonly onEnd: (end: ProcessExit) => void;
}

type LaunchHandlers = ProcessHandlers & { readonly onFailure: (error: Error) => void };

/** How often a process that this service did not start itself is looked at, ms. */
const POLL_INTERVAL_MS = 100;
/** How long a runner may take between claiming a run and writing down who it is, ms: it was killed there after that. */
const CLAIM_TIMEOUT_MS = 10_000;
/** How often it is looked whether a command that is to end has begun, ms. */
const START_POLL_INTERVAL_MS = 10;

/** The processes of one run of a container. */
export class ContainerProcess {
  readonly run: RunDir;
  /** Resolves when no process of the run is left. */
  readonly allExited: Promise<void>;
  readonly #identity: { podUid: string; container: string };
  readonly #handlers: ProcessHandlers;
  readonly #resolveAllExited: () => void;
  #pid: number | undefined;
  #poll: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #killAt = Number.POSITIVE_INFINITY;
  /** A warm Python was asked and has not answered. */
  #forkPending = false;
  #ended = false;
  #detached = false;

  private constructor(launch: Pick<ProcessLaunch, "podUid" | "container" | "run">, handlers: ProcessHandlers) {
    this.run = launch.run;
    this.#identity = { podUid: launch.podUid, container: `${launch.container}/${launch.run.attempt}` };
    this.#handlers = handlers;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.allExited = promise;
    this.#resolveAllExited = resolve;
  }

  /** Starts the command under a runner. */
  static launch(launch: ProcessLaunch, handlers: LaunchHandlers): ContainerProcess {
    const started = new ContainerProcess(launch, handlers);
    const environment = Object.fromEntries([
      ...launch.environment,
      [POD_UID_ENV, launch.podUid],
      [CONTAINER_ENV, started.#identity.container],
    ]);
    const { command, directory } = launch;
    // PWD as the runner's shell sets it.
    const forking = handlers.forkServers?.fork({
      run: launch.run.path,
      command,
      environment: { ...environment, PWD: directory },
      directory,
    });
    if (forking === undefined) started.#spawn(launch, { environment, handlers });
    else {
      started.#forkPending = true;
      void forking.then((answer) => started.#handleForkResult(answer, () => started.#spawn(launch, { environment, handlers })));
    }
    return started;
  }

  /** Takes over a run that an earlier service started; undefined when nothing ever ran. */
  static adopt(launch: Pick<ProcessLaunch, "podUid" | "container" | "run">, handlers: ProcessHandlers): ContainerProcess | undefined {
    if (readClaim(launch.run) === undefined) return undefined;
    const adopted = new ContainerProcess(launch, handlers);
    adopted.#pollRunFiles();
    return adopted;
  }

  get pid(): number | undefined {
    return this.#ended ? undefined : this.#pid;
  }

  get isStopping(): boolean {
    return this.#killAt !== Number.POSITIVE_INFINITY;
  }

  #spawn(
    { run, command, directory }: ProcessLaunch,
    { environment, handlers }: { environment: NodeJS.ProcessEnv; handlers: LaunchHandlers },
  ): void {
    const child = spawn("/bin/sh", ["-c", RUNNER_SCRIPT, RUNNER_NAME, run.path, ...command], {
      cwd: directory,
      env: environment,
      stdio: "ignore",
      detached: true,
    });
    this.#pid = child.pid;
    child.once("error", (error) => {
      if (child.pid === undefined) handlers.onFailure(error);
    });
    child.once("exit", (code, signal) => {
      // Another runner had claimed this run before; it is the one to follow.
      if (code === 125 && isClaimed(run) && readClaim(run)?.stat.pid !== child.pid) this.#pollRunFiles();
      else this.#end(signal === "SIGTERM" ? 143 : 137);
    });
    child.unref();
  }

  /** What the warm Python answered; who was asked to end meanwhile ends now. */
  #handleForkResult(answer: ForkResult, spawnNew: () => void): void {
    this.#forkPending = false;
    // Who adopts the folder finds what has begun, and begins what has not.
    if (this.#detached) return;
    switch (answer.kind) {
      case "declined":
        spawnNew();
        break;
      case "taken":
        this.#pollRunFiles();
        break;
      case "started":
        this.#pid = answer.pid;
        void answer.ended.then((status) => {
          if (status === undefined) this.#pollRunFiles();
          else this.#end(status === -15 ? 143 : 137);
        });
        break;
      default:
        answer satisfies never;
    }
    if (!this.isStopping) return;
    if (this.#killAt <= this.#handlers.now()) this.#kill();
    else this.#terminate();
  }

  /** Asks the process group to end and kills it after `graceMs`; a later, shorter grace period counts. */
  stop(graceMs: number): void {
    if (this.#ended || (this.#pid === undefined && !this.#forkPending)) return;
    const killAt = this.#handlers.now() + graceMs;
    if (killAt >= this.#killAt) return;
    const first = this.#killAt === Number.POSITIVE_INFINITY;
    this.#killAt = killAt;
    if (first && graceMs > 0) this.#terminate();
    clearTimeout(this.#killTimer);
    if (graceMs <= 0) this.#kill();
    else this.#killTimer = setTimeout(() => this.#kill(), graceMs);
  }

  /** Leaves the processes to whoever adopts them. */
  detach(): void {
    this.#detached = true;
    clearTimeout(this.#killTimer);
    clearInterval(this.#poll);
  }

  /**
   * Sends SIGTERM once the command has taken the place of the runner's child:
   * before that the runner would take note of the signal and start the command all the same.
   */
  #terminate(): void {
    if (this.#ended || this.#detached || this.#pid === undefined) return;
    if (hasCommandStarted(this.#pid)) sendSignal(-this.#pid, "SIGTERM");
    else setTimeout(() => this.#terminate(), START_POLL_INTERVAL_MS);
  }

  #kill(): void {
    if (this.#ended) return;
    // Without a number yet it is known by its mark alone.
    if (this.#pid !== undefined) sendSignal(-this.#pid, "SIGKILL");
    void this.#handlers.reaper.killAll({ podUid: this.#identity.podUid, container: this.#identity.container, session: this.#pid });
  }

  #pollRunFiles(): void {
    const claimDeadline = this.#handlers.now() + CLAIM_TIMEOUT_MS;
    const poll = () => {
      const claim = readClaim(this.run);
      if (claim === undefined && this.#handlers.now() < claimDeadline) return;
      if (readExit(this.run) === undefined && claim !== undefined && isAlive(claim.stat)) {
        this.#pid = claim.stat.pid;
        return;
      }
      clearInterval(this.#poll);
      this.#end(137);
    };
    this.#poll = setInterval(poll, POLL_INTERVAL_MS);
    setImmediate(poll);
    const claim = readClaim(this.run);
    if (claim !== undefined && isAlive(claim.stat)) this.#pid = claim.stat.pid;
  }

  /** @param defaultExitCode exit code when the runner could not write one */
  #end(defaultExitCode: number): void {
    if (this.#ended || this.#detached) return;
    this.#ended = true;
    clearTimeout(this.#killTimer);
    clearInterval(this.#poll);
    const exit = readExit(this.run);
    this.#handlers.onEnd({
      exitCode: exit?.code ?? defaultExitCode,
      finishedAt: exit?.at ?? this.#handlers.now(),
      lost: exit === undefined,
    });
    // As in a container, nothing outlives the first process.
    this.#handlers.reaper
      .killAll({ podUid: this.#identity.podUid, container: this.#identity.container, session: this.#pid })
      .then(this.#resolveAllExited, this.#resolveAllExited);
  }
}
