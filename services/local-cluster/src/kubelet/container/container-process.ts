import { spawn } from "node:child_process";
import { CONTAINER_ENV, sendSignal, POD_UID_ENV, type ProcessReaper } from "./process-reaper.js";
import { isAlive, isClaimed, readClaim, readExit, type RunDir } from "./run-dir.js";
import { hasCommandStarted, RUNNER_NAME, RUNNER_SCRIPT } from "./runner-script.js";
import type { StartOrigin, StartRequest, WarmStart, WarmStarter } from "../warm/warm-start.js";

export interface ProcessExit {
  readonly exitCode: number;
  readonly finishedAt: number;
  /**
   * True when the runner ended without writing the exit code: killed with its group, or lost with
   * the machine.
   */
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
  /** Start the programs that they know by processes that have loaded them. */
  readonly warmStarters?: readonly WarmStarter[];
  readonly onStart?: ((origin: StartOrigin) => void) | undefined;
  readonly now: () => number;
  readonly onEnd: (end: ProcessExit) => void;
}

type LaunchHandlers = ProcessHandlers & { readonly onFailure: (error: Error) => void };

/** Interval of checks of a process that this service did not start, ms. */
const POLL_INTERVAL_MS = 100;
/** Time between claiming a run and writing the claim, ms; a runner that takes longer was killed. */
const CLAIM_TIMEOUT_MS = 10_000;
/** Interval of checks whether the command to be ended has started, ms. */
const START_POLL_INTERVAL_MS = 10;

/** Processes of one run of a container. */
export class ContainerProcess {
  readonly run: RunDir;
  /** Resolves when all processes of the run have exited. */
  readonly allExited: Promise<void>;
  readonly #identity: { podUid: string; container: string };
  readonly #handlers: ProcessHandlers;
  readonly #resolveAllExited: () => void;
  #pid: number | undefined;
  #poll: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #killAt = Number.POSITIVE_INFINITY;
  /** True while a warm start is pending. */
  #warmPending = false;
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

  /** Starts the command under a runner process. */
  static launch(launch: ProcessLaunch, handlers: LaunchHandlers): ContainerProcess {
    const started = new ContainerProcess(launch, handlers);
    const environment = Object.fromEntries([
      ...launch.environment,
      [POD_UID_ENV, launch.podUid],
      [CONTAINER_ENV, started.#identity.container],
    ]);
    const { command, directory } = launch;
    // Sets PWD, as the shell of a runner does.
    const request: StartRequest = { run: launch.run.path, command, environment: { ...environment, PWD: directory }, directory };
    const spawnNew = () => started.#spawn(launch, { environment, handlers });
    const warm = firstStart(handlers.warmStarters ?? [], request);
    if (warm === undefined) spawnNew();
    else {
      started.#warmPending = true;
      void warm.then(({ answer, origin }) => {
        if (answer.kind === "started") handlers.onStart?.(origin);
        started.#handleWarmStart(answer, spawnNew);
      });
    }
    return started;
  }

  /** Adopts a run of an earlier service; undefined when the run never started. */
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
    handlers.onStart?.("new");
    child.once("error", (error) => {
      if (child.pid === undefined) handlers.onFailure(error);
    });
    child.once("exit", (code, signal) => {
      // Another runner claimed this run earlier: follow that one.
      if (code === 125 && isClaimed(run) && readClaim(run)?.stat.pid !== child.pid) this.#pollRunFiles();
      else this.#end(signal === "SIGTERM" ? 143 : 137);
    });
    child.unref();
  }

  /** Handles the result of a warm start; applies a stop requested meanwhile. */
  #handleWarmStart(answer: WarmStart, spawnNew: () => void): void {
    this.#warmPending = false;
    // The service that adopts the run directory continues the run, or starts it.
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

  /**
   * Sends SIGTERM to the process group and SIGKILL after `graceMs`; a later call can only shorten
   * the grace period.
   */
  stop(graceMs: number): void {
    if (this.#ended || (this.#pid === undefined && !this.#warmPending)) return;
    const killAt = this.#handlers.now() + graceMs;
    if (killAt >= this.#killAt) return;
    const first = this.#killAt === Number.POSITIVE_INFINITY;
    this.#killAt = killAt;
    if (first && graceMs > 0) this.#terminate();
    clearTimeout(this.#killTimer);
    if (graceMs <= 0) this.#kill();
    else this.#killTimer = setTimeout(() => this.#kill(), graceMs);
  }

  /** Leaves the processes running for adoption. */
  detach(): void {
    this.#detached = true;
    clearTimeout(this.#killTimer);
    clearInterval(this.#poll);
  }

  /**
   * Sends SIGTERM once the runner's child has become the command: earlier the runner would handle
   * the signal and start the command nevertheless.
   */
  #terminate(): void {
    if (this.#ended || this.#detached || this.#pid === undefined) return;
    if (hasCommandStarted(this.#pid)) sendSignal(-this.#pid, "SIGTERM");
    else setTimeout(() => this.#terminate(), START_POLL_INTERVAL_MS);
  }

  #kill(): void {
    if (this.#ended) return;
    // Without a pid, only the environment identifies the processes.
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
    // As in a container, all processes end with the first one.
    this.#handlers.reaper
      .killAll({ podUid: this.#identity.podUid, container: this.#identity.container, session: this.#pid })
      .then(this.#resolveAllExited, this.#resolveAllExited);
  }
}

/** Asks each starter in turn; undefined when none knows the command. */
function firstStart(
  starters: readonly WarmStarter[],
  request: StartRequest,
): Promise<{ readonly answer: WarmStart; readonly origin: StartOrigin }> | undefined {
  for (const starter of starters) {
    const { origin } = starter;
    const answer = starter.start(request);
    if (answer !== undefined) return answer.then((known) => ({ answer: known, origin }));
  }
  return undefined;
}
