import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { basename } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import { findExecutable } from "./find-executable.js";
import { sendSignal } from "./process-reaper.js";

/** Entry points of flytekit. Source: flytekit's setup, console scripts. */
const ENTRY_POINTS: ReadonlySet<string> = new Set(["pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute"]);

/** Variables that differ from pod to pod and that nothing reads before flytekit is imported. */
const PER_POD_VARIABLE = /^(HOME|TMPDIR|PWD|HOSTNAME|FLYTE_.*|_F_.*|BATCH_JOB_ARRAY_INDEX_.*)$/;

/** A warm Python that takes longer than this to load is given up, ms. */
const START_TIMEOUT_MS = 30_000;

/** What is to run; `environment` holds everything, marks included. */
export interface ForkRequest {
  readonly run: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** What became of a request. `declined`: nothing was started, and a new process has to be. */
export type ForkResult =
  | {
      readonly kind: "started";
      readonly pid: number;
      /** Resolves with the runner's exit status, negative for a signal; undefined when nobody is left to tell. */
      readonly ended: Promise<number | undefined>;
    }
  | { readonly kind: "taken" }
  | { readonly kind: "declined" };

export interface ForkServerOptions {
  /** File of python/warm.py. */
  readonly program: string;
  /** Where warm Pythons write what they should not have to say. */
  readonly logFile: string;
  readonly logger: Logger;
  /** A warm Python that nobody asks for so long ends, ms. */
  readonly idleTimeoutMs: number;
  /** How many are kept at most: one for each Python and set of settings in use. */
  readonly maxServers: number;
  /** Modules that it loads too, once it answers; those that cannot be imported are left out. */
  readonly modules: readonly string[];
}

/**
 * Starts flytekit's entry points by forking a Python that has loaded what they import (python/warm.py). A
 * Python is started when the first container needs it, and ends when none has for some time.
 */
export class PythonForkServerPool {
  readonly #options: ForkServerOptions;
  readonly #servers = new Map<string, PythonForkServer>();
  readonly #unusable = new Set<string>();
  #closed = false;

  constructor(options: ForkServerOptions) {
    this.#options = options;
  }

  /** The request's answer to come; undefined when the command is no entry point of flytekit's and needs a new process. */
  fork(request: ForkRequest): Promise<ForkResult> | undefined {
    return this.#serverFor(request)?.fork(request);
  }

  /** Starts the Python that would serve such a request, before there is one. */
  startEagerly(request: Omit<ForkRequest, "run">): void {
    this.#serverFor(request)?.scheduleIdleEnd();
  }

  /** The Python that serves such requests; undefined where there is none. */
  #serverFor(request: Omit<ForkRequest, "run">): PythonForkServer | undefined {
    const python = this.#closed ? undefined : interpreterOf(request);
    if (python === undefined) return undefined;
    const settings = Object.entries(request.environment).filter(([name]) => !PER_POD_VARIABLE.test(name));
    const key = JSON.stringify([python, settings.sort(([a], [b]) => (a < b ? -1 : 1))]);
    if (this.#unusable.has(key)) return undefined;
    let server = this.#servers.get(key);
    if (server === undefined) {
      this.#evictOldest();
      server = new PythonForkServer(python, { environment: request.environment, ...this.#options });
    } else this.#servers.delete(key);
    // The one that was asked last stands last.
    this.#servers.set(key, server);
    const current = server;
    void current.stopped.then((reason) => {
      if (reason === "unusable") this.#unusable.add(key);
      if (this.#servers.get(key) === current) this.#servers.delete(key);
    });
    return current;
  }

  /** Ends them; what they started goes on. */
  close(): void {
    this.#closed = true;
    for (const server of this.#servers.values()) server.end();
    this.#servers.clear();
  }

  /** Ends them before this returns: what has not begun by then does not begin. */
  kill(): void {
    for (const server of this.#servers.values()) server.kill();
  }

  #evictOldest(): void {
    for (const [key, server] of this.#servers) {
      if (this.#servers.size < this.#options.maxServers) return;
      this.#servers.delete(key);
      server.end();
    }
  }
}

/** The Python that the first line of an entry point names. */
function interpreterOf({ command: [name = ""], environment, directory }: Omit<ForkRequest, "run">): string | undefined {
  if (!ENTRY_POINTS.has(basename(name))) return undefined;
  const script = findExecutable(name, { path: environment["PATH"] ?? "", directory });
  if (script === undefined) return undefined;
  return /^#!(\/\S+\/python[\d.]*)\n/.exec(readFileSync(script, "latin1"))?.[1];
}

interface PendingRequest {
  readonly resolve: (start: ForkResult) => void;
  readonly ended: (status: number | undefined) => void;
  readonly whenEnded: Promise<number | undefined>;
  started: boolean;
}

interface Message {
  readonly id?: number;
  readonly ready?: true;
  readonly unusable?: string;
  readonly started?: number;
  readonly taken?: true;
  readonly declined?: string;
  /** With `declined`: the same answer would be given to all that follow. */
  readonly stale?: true;
  readonly ended?: number;
  readonly grown?: number;
}

/** One process of python/warm.py. */
class PythonForkServer {
  /** Resolves when it answers no more. */
  readonly stopped: Promise<"ended" | "unusable">;
  readonly #options: ForkServerOptions;
  readonly #child: ChildProcess;
  readonly #control: Socket;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #resolveStopped: (reason: "ended" | "unusable") => void;
  readonly #startTimer: NodeJS.Timeout;
  #idleTimer: NodeJS.Timeout | undefined;
  #next = 1;
  /** The process that answers in place of the first one. */
  #successorPid: number | undefined;
  #ready = false;
  #ended = false;
  #rest = "";

  constructor(python: string, options: ForkServerOptions & { readonly environment: Readonly<Record<string, string>> }) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<"ended" | "unusable">();
    this.stopped = promise;
    this.#resolveStopped = resolve;
    const log = openSync(options.logFile, "a");
    // The marks of the first pod are not its own: who ends that pod must not find it.
    const environment = Object.fromEntries(Object.entries(options.environment).filter(([name]) => !name.startsWith("FLYTE_TS_")));
    this.#child = spawn(python, [options.program, ...options.modules], {
      env: environment,
      stdio: ["ignore", log, log, "pipe"],
      detached: true,
    });
    closeSync(log);
    this.#child.unref();
    this.#control = this.#child.stdio[3] as Socket;
    this.#control.unref();
    this.#control.on("data", (chunk: Buffer) => this.#read(chunk.toString("utf8")));
    this.#control.on("error", () => this.#onConnectionEnd());
    this.#control.on("close", () => this.#onConnectionEnd());
    this.#child.once("error", () => this.#finish("unusable"));
    this.#startTimer = setTimeout(() => {
      options.logger.warn({ python }, "a warm Python took too long to load");
      this.#child.kill("SIGKILL");
      this.#finish("unusable");
    }, START_TIMEOUT_MS);
  }

  fork(request: ForkRequest): Promise<ForkResult> {
    if (this.#ended) return Promise.resolve({ kind: "declined" });
    clearTimeout(this.#idleTimer);
    const { promise, resolve: answer } = Promise.withResolvers<ForkResult>();
    const { promise: whenEnded, resolve: ended } = Promise.withResolvers<number | undefined>();
    const id = this.#next++;
    this.#pending.set(id, { resolve: answer, ended, whenEnded, started: false });
    this.#control.write(`${JSON.stringify({ id, ...request })}\n`);
    return promise;
  }

  /** Ends it when nobody asks for long. */
  scheduleIdleEnd(): void {
    if (this.#pending.size > 0 || this.#ended) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.end(), this.#options.idleTimeoutMs);
  }

  end(): void {
    this.#control.end();
    this.#finish("ended");
  }

  kill(): void {
    this.#child.kill("SIGKILL");
    // Not its own child, but it cannot be another: its parent waits for it as long as it is heard.
    if (this.#successorPid !== undefined && !this.#ended) sendSignal(this.#successorPid, "SIGKILL");
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#handle(JSON.parse(line) as Message);
  }

  #handle({ id = 0, ready, unusable, started, taken, declined, stale, ended, grown }: Message): void {
    if (grown !== undefined) this.#successorPid = grown;
    if (ready === true) {
      this.#ready = true;
      clearTimeout(this.#startTimer);
    }
    if (unusable !== undefined) {
      this.#options.logger.info({ reason: unusable }, "containers with Python start anew each time");
      this.#finish("unusable");
    }
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if (started !== undefined) {
      pending.started = true;
      pending.resolve({ kind: "started", pid: started, ended: pending.whenEnded });
      return;
    }
    this.#pending.delete(id);
    pending.ended(ended);
    if (taken === true) pending.resolve({ kind: "taken" });
    if (declined !== undefined) {
      this.#options.logger.debug({ reason: declined }, "a container starts a new Python");
      pending.resolve({ kind: "declined" });
    }
    // Packages have been installed: the next start is served by one that has loaded them.
    if (stale === true) this.end();
    this.scheduleIdleEnd();
  }

  /** It has ended by itself: before it was ready it would again. */
  #onConnectionEnd(): void {
    if (this.#ended) return;
    if (!this.#ready) this.#options.logger.warn("a warm Python ended while it loaded: containers with Python start anew each time");
    this.#finish(this.#ready ? "ended" : "unusable");
  }

  /** Nothing more will be heard: what has begun is followed by its files, what has not begins anew. */
  #finish(reason: "ended" | "unusable"): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#startTimer);
    clearTimeout(this.#idleTimer);
    for (const { resolve: answer, ended } of this.#pending.values()) {
      answer({ kind: "declined" });
      ended(undefined);
    }
    this.#pending.clear();
    this.#resolveStopped(reason);
  }
}
