import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { basename } from "node:path";
import type { Logger } from "@flyte-ts/telemetry";
import { findExecutable } from "./find-executable.js";
import { kill } from "./reaper.js";

/** Entry points of flytekit. Source: flytekit's setup, console scripts. */
const COMMANDS: ReadonlySet<string> = new Set(["pyflyte-execute", "pyflyte-fast-execute", "pyflyte-map-execute"]);

/** Variables that differ from pod to pod and that nothing reads before flytekit is imported. */
const OF_ONE_POD = /^(HOME|TMPDIR|PWD|HOSTNAME|FLYTE_.*|_F_.*|BATCH_JOB_ARRAY_INDEX_.*)$/;

/** A warm Python that takes longer than this to load is given up, ms. */
const LOADING_MS = 30_000;

/** What is to run; `environment` holds everything, marks included. */
export interface WarmRequest {
  readonly run: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** What became of a request. `declined`: nothing was started, and a new process has to be. */
export type WarmStart =
  | {
      readonly kind: "started";
      readonly pid: number;
      /** Resolves with the runner's exit status, negative for a signal; undefined when nobody is left to tell. */
      readonly ended: Promise<number | undefined>;
    }
  | { readonly kind: "taken" }
  | { readonly kind: "declined" };

export interface WarmPythonOptions {
  /** File of python/warm.py. */
  readonly program: string;
  /** Where warm Pythons write what they should not have to say. */
  readonly logFile: string;
  readonly logger: Logger;
  /** A warm Python that nobody asks for so long ends, ms. */
  readonly idleMs: number;
  /** How many are kept at most: one for each Python and set of settings in use. */
  readonly most: number;
  /** Modules that it loads too, once it answers; those that cannot be imported are left out. */
  readonly modules: readonly string[];
}

/**
 * Starts flytekit's entry points by forking a Python that has loaded what they import (python/warm.py). A
 * Python is started when the first container needs it, and ends when none has for some time.
 */
export class WarmPythons {
  readonly #options: WarmPythonOptions;
  readonly #warm = new Map<string, WarmPython>();
  readonly #unusable = new Set<string>();
  #closed = false;

  constructor(options: WarmPythonOptions) {
    this.#options = options;
  }

  /** The request's answer to come; undefined when the command is no entry point of flytekit's and needs a new process. */
  start(request: WarmRequest): Promise<WarmStart> | undefined {
    return this.#for(request)?.request(request);
  }

  /** Starts the Python that would serve such a request, before there is one. */
  prepare(request: Omit<WarmRequest, "run">): void {
    this.#for(request)?.waitForRequests();
  }

  /** The Python that serves such requests; undefined where there is none. */
  #for(request: Omit<WarmRequest, "run">): WarmPython | undefined {
    const python = this.#closed ? undefined : pythonOf(request);
    if (python === undefined) return undefined;
    const settings = Object.entries(request.environment).filter(([name]) => !OF_ONE_POD.test(name));
    const key = JSON.stringify([python, settings.sort(([a], [b]) => (a < b ? -1 : 1))]);
    if (this.#unusable.has(key)) return undefined;
    let warm = this.#warm.get(key);
    if (warm === undefined) {
      this.#makeRoom();
      warm = new WarmPython(python, { environment: request.environment, ...this.#options });
    } else this.#warm.delete(key);
    // The one that was asked last stands last.
    this.#warm.set(key, warm);
    const made = warm;
    void made.gone.then((reason) => {
      if (reason === "unusable") this.#unusable.add(key);
      if (this.#warm.get(key) === made) this.#warm.delete(key);
    });
    return made;
  }

  /** Ends them; what they started goes on. */
  close(): void {
    this.#closed = true;
    for (const warm of this.#warm.values()) warm.end();
    this.#warm.clear();
  }

  /** Ends them before this returns: what has not begun by then does not begin. */
  kill(): void {
    for (const warm of this.#warm.values()) warm.kill();
  }

  #makeRoom(): void {
    for (const [key, warm] of this.#warm) {
      if (this.#warm.size < this.#options.most) return;
      this.#warm.delete(key);
      warm.end();
    }
  }
}

/** The Python that the first line of an entry point names. */
function pythonOf({ command: [name = ""], environment, directory }: Omit<WarmRequest, "run">): string | undefined {
  if (!COMMANDS.has(basename(name))) return undefined;
  const script = findExecutable(name, { path: environment["PATH"] ?? "", directory });
  if (script === undefined) return undefined;
  return /^#!(\/\S+\/python[\d.]*)\n/.exec(readFileSync(script, "latin1"))?.[1];
}

interface Pending {
  readonly answer: (start: WarmStart) => void;
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
class WarmPython {
  /** Resolves when it answers no more. */
  readonly gone: Promise<"ended" | "unusable">;
  readonly #options: WarmPythonOptions;
  readonly #child: ChildProcess;
  readonly #control: Socket;
  readonly #pending = new Map<number, Pending>();
  readonly #leave: (reason: "ended" | "unusable") => void;
  readonly #loading: NodeJS.Timeout;
  #idle: NodeJS.Timeout | undefined;
  #next = 1;
  /** The process that answers in place of the first one. */
  #heir: number | undefined;
  #ready = false;
  #over = false;
  #rest = "";

  constructor(python: string, options: WarmPythonOptions & { readonly environment: Readonly<Record<string, string>> }) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<"ended" | "unusable">();
    this.gone = promise;
    this.#leave = resolve;
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
    this.#control.on("error", () => this.#end());
    this.#control.on("close", () => this.#end());
    this.#child.once("error", () => this.#lose("unusable"));
    this.#loading = setTimeout(() => {
      options.logger.warn({ python }, "a warm Python took too long to load");
      this.#child.kill("SIGKILL");
      this.#lose("unusable");
    }, LOADING_MS);
  }

  request(request: WarmRequest): Promise<WarmStart> {
    if (this.#over) return Promise.resolve({ kind: "declined" });
    clearTimeout(this.#idle);
    const { promise, resolve: answer } = Promise.withResolvers<WarmStart>();
    const { promise: whenEnded, resolve: ended } = Promise.withResolvers<number | undefined>();
    const id = this.#next++;
    this.#pending.set(id, { answer, ended, whenEnded, started: false });
    this.#control.write(`${JSON.stringify({ id, ...request })}\n`);
    return promise;
  }

  /** Ends it when nobody asks for long. */
  waitForRequests(): void {
    if (this.#pending.size > 0 || this.#over) return;
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.end(), this.#options.idleMs);
  }

  end(): void {
    this.#control.end();
    this.#lose("ended");
  }

  kill(): void {
    this.#child.kill("SIGKILL");
    // Not its own child, but it cannot be another: its parent waits for it as long as it is heard.
    if (this.#heir !== undefined && !this.#over) kill(this.#heir, "SIGKILL");
  }

  #read(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#hear(JSON.parse(line) as Message);
  }

  #hear({ id = 0, ready, unusable, started, taken, declined, stale, ended, grown }: Message): void {
    if (grown !== undefined) this.#heir = grown;
    if (ready === true) {
      this.#ready = true;
      clearTimeout(this.#loading);
    }
    if (unusable !== undefined) {
      this.#options.logger.info({ reason: unusable }, "containers with Python start anew each time");
      this.#lose("unusable");
    }
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    if (started !== undefined) {
      pending.started = true;
      pending.answer({ kind: "started", pid: started, ended: pending.whenEnded });
      return;
    }
    this.#pending.delete(id);
    pending.ended(ended);
    if (taken === true) pending.answer({ kind: "taken" });
    if (declined !== undefined) {
      this.#options.logger.debug({ reason: declined }, "a container starts a new Python");
      pending.answer({ kind: "declined" });
    }
    // Packages have been installed: the next start is served by one that has loaded them.
    if (stale === true) this.end();
    this.waitForRequests();
  }

  /** It has ended by itself: before it was ready it would again. */
  #end(): void {
    if (this.#over) return;
    if (!this.#ready) this.#options.logger.warn("a warm Python ended while it loaded: containers with Python start anew each time");
    this.#lose(this.#ready ? "ended" : "unusable");
  }

  /** Nothing more will be heard: what has begun is followed by its files, what has not begins anew. */
  #lose(reason: "ended" | "unusable"): void {
    if (this.#over) return;
    this.#over = true;
    clearTimeout(this.#loading);
    clearTimeout(this.#idle);
    for (const { answer, ended } of this.#pending.values()) {
      answer({ kind: "declined" });
      ended(undefined);
    }
    this.#pending.clear();
    this.#leave(reason);
  }
}
