import { spawn } from "node:child_process";
import { CONTAINER_MARK, kill, POD_MARK, type Reaper } from "./reaper.js";
import { isAlive, isClaimed, readClaim, readExit, type RunFolder } from "./run-folder.js";
import { commandHasBegun, RUNNER_NAME, RUNNER_SCRIPT } from "./runner-script.js";
import type { WarmPythons, WarmStart } from "./warm-python.js";

export interface Ended {
  readonly exitCode: number;
  readonly finishedAt: number;
  /** The runner itself is gone without a word: killed with its group, or lost with the machine. */
  readonly lost: boolean;
}

export interface Launch {
  readonly podUid: string;
  readonly container: string;
  readonly run: RunFolder;
  readonly command: readonly string[];
  readonly environment: ReadonlyMap<string, string>;
  readonly directory: string;
}

interface Handlers {
  readonly reaper: Reaper;
  /** Starts what it can in place of a new process. */
  readonly warm?: WarmPythons | undefined;
  readonly now: () => number;
  readonly onEnd: (end: Ended) => void;
}

type LaunchHandlers = Handlers & { readonly onFailure: (error: Error) => void };

/** How often a process that this service did not start itself is looked at, ms. */
const POLL_MS = 100;
/** How long a runner may take between claiming a run and writing down who it is, ms: it was killed there after that. */
const CLAIM_MS = 10_000;
/** How often it is looked whether a command that is to end has begun, ms. */
const BEGIN_MS = 10;

/** The processes of one run of a container. */
export class ContainerProcess {
  readonly run: RunFolder;
  /** Resolves when no process of the run is left. */
  readonly purged: Promise<void>;
  readonly #mark: { podUid: string; container: string };
  readonly #handlers: Handlers;
  readonly #resolvePurged: () => void;
  #pid: number | undefined;
  #poll: NodeJS.Timeout | undefined;
  #killTimer: NodeJS.Timeout | undefined;
  #killAt = Number.POSITIVE_INFINITY;
  /** A warm Python was asked and has not answered. */
  #asking = false;
  #ended = false;
  #detached = false;

  private constructor(launch: Pick<Launch, "podUid" | "container" | "run">, handlers: Handlers) {
    this.run = launch.run;
    this.#mark = { podUid: launch.podUid, container: `${launch.container}/${launch.run.attempt}` };
    this.#handlers = handlers;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.purged = promise;
    this.#resolvePurged = resolve;
  }

  /** Starts the command under a runner. */
  static launch(launch: Launch, handlers: LaunchHandlers): ContainerProcess {
    const started = new ContainerProcess(launch, handlers);
    const environment = Object.fromEntries([...launch.environment, [POD_MARK, launch.podUid], [CONTAINER_MARK, started.#mark.container]]);
    const { command, directory } = launch;
    // PWD as the runner's shell sets it.
    const warm = handlers.warm?.start({ run: launch.run.path, command, environment: { ...environment, PWD: directory }, directory });
    if (warm === undefined) started.#spawn(launch, { environment, handlers });
    else {
      started.#asking = true;
      void warm.then((answer) => started.#take(answer, () => started.#spawn(launch, { environment, handlers })));
    }
    return started;
  }

  /** Takes over a run that an earlier service started; undefined when nothing ever ran. */
  static adopt(launch: Pick<Launch, "podUid" | "container" | "run">, handlers: Handlers): ContainerProcess | undefined {
    if (readClaim(launch.run) === undefined) return undefined;
    const adopted = new ContainerProcess(launch, handlers);
    adopted.#follow();
    return adopted;
  }

  get pid(): number | undefined {
    return this.#ended ? undefined : this.#pid;
  }

  get isStopping(): boolean {
    return this.#killAt !== Number.POSITIVE_INFINITY;
  }

  #spawn(
    { run, command, directory }: Launch,
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
      if (code === 125 && isClaimed(run) && readClaim(run)?.stat.pid !== child.pid) this.#follow();
      else this.#end(signal === "SIGTERM" ? 143 : 137);
    });
    child.unref();
  }

  /** What the warm Python answered; who was asked to end meanwhile ends now. */
  #take(answer: WarmStart, spawnNew: () => void): void {
    this.#asking = false;
    // Who adopts the folder finds what has begun, and begins what has not.
    if (this.#detached) return;
    switch (answer.kind) {
      case "declined":
        spawnNew();
        break;
      case "taken":
        this.#follow();
        break;
      case "started":
        this.#pid = answer.pid;
        void answer.ended.then((status) => {
          if (status === undefined) this.#follow();
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
    if (this.#ended || (this.#pid === undefined && !this.#asking)) return;
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
    if (commandHasBegun(this.#pid)) kill(-this.#pid, "SIGTERM");
    else setTimeout(() => this.#terminate(), BEGIN_MS);
  }

  #kill(): void {
    if (this.#ended) return;
    // Without a number yet it is known by its mark alone.
    if (this.#pid !== undefined) kill(-this.#pid, "SIGKILL");
    void this.#handlers.reaper.purge({ podUid: this.#mark.podUid, container: this.#mark.container, session: this.#pid });
  }

  #follow(): void {
    const patience = this.#handlers.now() + CLAIM_MS;
    const look = () => {
      const claim = readClaim(this.run);
      if (claim === undefined && this.#handlers.now() < patience) return;
      if (readExit(this.run) === undefined && claim !== undefined && isAlive(claim.stat)) {
        this.#pid = claim.stat.pid;
        return;
      }
      clearInterval(this.#poll);
      this.#end(137);
    };
    this.#poll = setInterval(look, POLL_MS);
    setImmediate(look);
    const claim = readClaim(this.run);
    if (claim !== undefined && isAlive(claim.stat)) this.#pid = claim.stat.pid;
  }

  /** @param unwritten exit code when the runner could not write one */
  #end(unwritten: number): void {
    if (this.#ended || this.#detached) return;
    this.#ended = true;
    clearTimeout(this.#killTimer);
    clearInterval(this.#poll);
    const exit = readExit(this.run);
    this.#handlers.onEnd({ exitCode: exit?.code ?? unwritten, finishedAt: exit?.at ?? this.#handlers.now(), lost: exit === undefined });
    // As in a container, nothing outlives the first process.
    this.#handlers.reaper
      .purge({ podUid: this.#mark.podUid, container: this.#mark.container, session: this.#pid })
      .then(this.#resolvePurged, this.#resolvePurged);
  }
}
