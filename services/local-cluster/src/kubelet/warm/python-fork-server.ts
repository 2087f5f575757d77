import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { basename } from "node:path";
import { BoundedMap } from "@flyte-ts/async";
import type { Logger } from "@flyte-ts/telemetry";
import { findExecutable } from "../container/find-executable.js";
import { sendSignal } from "../container/process-reaper.js";
import { PER_POD_VARIABLE, type StartRequest, type WarmStart, type WarmStarter } from "./warm-start.js";

/** Entry points of flytekit. Source: console scripts in flytekit's setup. */
const ENTRY_POINTS: ReadonlySet<string> = new Set(["pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute"]);

/** Argument of a fork server that lets its forks import flytekit. */
const WITHOUT_FLYTEKIT = "--without-flytekit";

/** Maximum of kinds of requests that are known to need an import of their own. */
const MAX_OWN_IMPORTS = 100;

/** Timeout of the start, ms. */
const START_TIMEOUT_MS = 30_000;

export interface ForkServerOptions {
  /** Path of python/fork_server.py. */
  readonly program: string;
  /** Log file of fork servers. */
  readonly logFile: string;
  readonly logger: Logger;
  /** Idle time after which a fork server exits, ms. */
  readonly idleTimeoutMs: number;
  /** Maximum number of fork servers: one per Python and set of variables. */
  readonly maxServers: number;
  /** Additional modules to preload; failed imports are skipped. */
  readonly modules: readonly string[];
}

/**
 * Starts flytekit's entry points by forking Python processes with preloaded modules
 * (python/fork_server.py). A server starts with the first container that needs it, and exits when
 * idle.
 */
export class PythonForkServerPool implements WarmStarter {
  readonly origin = "fork";
  readonly #options: ForkServerOptions;
  readonly #servers = new Map<string, PythonForkServer>();
  readonly #unavailable = new Set<string>();
  /** Time of the last request that needed an own import of flytekit, ms, by key of its server. */
  readonly #ownImports = new BoundedMap<string, number>(MAX_OWN_IMPORTS);
  #closed = false;

  constructor(options: ForkServerOptions) {
    this.#options = options;
  }

  /**
   * Requests a fork; undefined when the command is no entry point of flytekit and needs a new
   * process.
   */
  start(request: StartRequest): Promise<WarmStart> | undefined {
    const key = keyOf(request);
    if (key === undefined) return undefined;
    const server = this.#serverFor(key, request);
    return server?.fork(request).then((start) => (start.kind === "refused" ? this.#startWithOwnImport(key, request) : start));
  }

  /** Starts the server for such requests in advance. */
  startEagerly(request: Omit<StartRequest, "run">): void {
    const key = keyOf(request);
    if (key !== undefined) this.#serverFor(key, request)?.scheduleIdleEnd();
  }

  /**
   * Starts a container with settings of its own for flytekit: the first one as a new process,
   * others soon after it by a fork of a server that has not imported flytekit.
   */
  async #startWithOwnImport(key: ServerKey, request: StartRequest): Promise<WarmStart> {
    const last = this.#ownImports.get(key.text);
    this.#ownImports.set(key.text, Date.now());
    if (last === undefined || Date.now() > last + this.#options.idleTimeoutMs) return { kind: "declined" };
    const own = { ...key, text: `${WITHOUT_FLYTEKIT} ${key.text}`, flags: [WITHOUT_FLYTEKIT] };
    const start = await this.#serverFor(own, request)?.fork(request);
    return start === undefined || start.kind === "refused" ? { kind: "declined" } : start;
  }

  /**
   * Returns the server for such requests, started if necessary; undefined when none can serve them.
   */
  #serverFor({ python, text, flags }: ServerKey, request: Omit<StartRequest, "run">): PythonForkServer | undefined {
    if (this.#closed || this.#unavailable.has(text)) return undefined;
    let server = this.#servers.get(text);
    if (server === undefined) {
      this.#evictOldest();
      server = new PythonForkServer(python, { ...this.#options, environment: request.environment, flags });
    } else this.#servers.delete(text);
    // Moves the most recently used server to the end.
    this.#servers.set(text, server);
    const current = server;
    void current.stopped.then((reason) => {
      if (reason === "unavailable") this.#unavailable.add(text);
      if (this.#servers.get(text) === current) this.#servers.delete(text);
    });
    return current;
  }

  /** Ends the servers; forked processes continue. */
  close(): void {
    this.#closed = true;
    for (const server of this.#servers.values()) server.end();
    this.#servers.clear();
  }

  /** Kills the servers synchronously: pending requests do not start. */
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

/** Requests that one server can serve. */
interface ServerKey {
  readonly python: string;
  readonly text: string;
  /** Arguments of the server before its modules. */
  readonly flags: readonly string[];
}

function keyOf(request: Omit<StartRequest, "run">): ServerKey | undefined {
  const python = interpreterOf(request);
  if (python === undefined) return undefined;
  const settings = Object.entries(request.environment).filter(([name]) => !PER_POD_VARIABLE.test(name));
  return { python, text: JSON.stringify([python, settings.sort(([a], [b]) => (a < b ? -1 : 1))]), flags: [] };
}

/** Answer of a fork server. `refused`: a server that has not imported flytekit could fork. */
type ForkAnswer = WarmStart | { readonly kind: "refused" };

/** Reads the interpreter from the entry point's first line. */
function interpreterOf({ command: [name = ""], environment, directory }: Omit<StartRequest, "run">): string | undefined {
  if (!ENTRY_POINTS.has(basename(name))) return undefined;
  const script = findExecutable(name, { path: environment["PATH"] ?? "", directory });
  if (script === undefined) return undefined;
  return /^#!(\/\S+\/python[\d.]*)\n/.exec(readFileSync(script, "latin1"))?.[1];
}

interface PendingRequest {
  readonly resolve: (start: ForkAnswer) => void;
  readonly ended: (status: number | undefined) => void;
  readonly whenEnded: Promise<number | undefined>;
  started: boolean;
}

interface Message {
  readonly id?: number;
  readonly ready?: true;
  readonly unavailable?: string;
  readonly started?: number;
  readonly taken?: true;
  readonly declined?: string;
  /** Accompanies `declined` when the server has imported flytekit. */
  readonly withFlytekit?: boolean;
  /**
   * Accompanies `declined` when the server would decline all later requests for the same reason.
   */
  readonly stale?: true;
  readonly ended?: number;
  readonly replaced?: number;
}

/** A process of python/fork_server.py. */
class PythonForkServer {
  /** Resolves when the server serves no more requests. */
  readonly stopped: Promise<"ended" | "unavailable">;
  readonly #options: ForkServerOptions;
  readonly #child: ChildProcess;
  readonly #control: Socket;
  readonly #pending = new Map<number, PendingRequest>();
  readonly #resolveStopped: (reason: "ended" | "unavailable") => void;
  readonly #startTimer: NodeJS.Timeout;
  #idleTimer: NodeJS.Timeout | undefined;
  #next = 1;
  /** Pid of the process that has replaced the first one. */
  #successorPid: number | undefined;
  #ready = false;
  #ended = false;
  #rest = "";

  constructor(
    python: string,
    options: ForkServerOptions & { readonly environment: Readonly<Record<string, string>>; readonly flags: readonly string[] },
  ) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<"ended" | "unavailable">();
    this.stopped = promise;
    this.#resolveStopped = resolve;
    const log = openSync(options.logFile, "a");
    // The server must not carry the first pod's variables, or killing that pod would kill it.
    const environment = Object.fromEntries(Object.entries(options.environment).filter(([name]) => !name.startsWith("FLYTE_TS_")));
    this.#child = spawn(python, [options.program, ...options.flags, ...options.modules], {
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
    this.#child.once("error", () => this.#finish("unavailable"));
    this.#startTimer = setTimeout(() => {
      options.logger.warn({ python }, "Python fork server start timed out");
      this.#child.kill("SIGKILL");
      this.#finish("unavailable");
    }, START_TIMEOUT_MS);
  }

  fork(request: StartRequest): Promise<ForkAnswer> {
    if (this.#ended) return Promise.resolve({ kind: "declined" });
    clearTimeout(this.#idleTimer);
    const { promise, resolve: answer } = Promise.withResolvers<ForkAnswer>();
    const { promise: whenEnded, resolve: ended } = Promise.withResolvers<number | undefined>();
    const id = this.#next++;
    this.#pending.set(id, { resolve: answer, ended, whenEnded, started: false });
    this.#control.write(`${JSON.stringify({ id, ...request })}\n`);
    return promise;
  }

  /** Schedules the exit for idleness. */
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
    // The successor is not a child of this process, but its pid cannot be reused: its parent waits
    // for it while the connection is open.
    if (this.#successorPid !== undefined && !this.#ended) sendSignal(this.#successorPid, "SIGKILL");
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#handle(JSON.parse(line) as Message);
  }

  #handle({ id = 0, ready, unavailable, started, taken, declined, withFlytekit, stale, ended, replaced }: Message): void {
    if (replaced !== undefined) this.#successorPid = replaced;
    if (ready === true) {
      this.#ready = true;
      clearTimeout(this.#startTimer);
    }
    if (unavailable !== undefined) {
      this.#options.logger.info({ reason: unavailable }, "Python fork server disabled");
      this.#finish("unavailable");
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
      this.#options.logger.debug({ reason: declined }, "fork declined");
      pending.resolve({ kind: withFlytekit === true && stale !== true ? "refused" : "declined" });
    }
    // Installed packages have changed: another server with the current ones serves later requests.
    if (stale === true) this.end();
    this.scheduleIdleEnd();
  }

  /**
   * Handles an exit of the server that this process did not request. An exit before readiness
   * disables the server for its requests, since another process would exit in the same way.
   */
  #onConnectionEnd(): void {
    if (this.#ended) return;
    if (!this.#ready) this.#options.logger.warn("Python fork server exited during its start; disabled");
    this.#finish(this.#ready ? "ended" : "unavailable");
  }

  /** Ends all requests: started runs are followed by their files, the others are declined. */
  #finish(reason: "ended" | "unavailable"): void {
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
