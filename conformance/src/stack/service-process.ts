import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { cacheDir } from "@flyte-ts/host";
import { memoryBytes, testWatchdog } from "@flyte-ts/testing";
import { respondsOk } from "./http-probe.js";
import { root } from "../repository.js";
import { builtProgram } from "./built-program.js";

export interface ServiceSpec {
  /** Name in the configuration file and in messages. */
  readonly name: string;
  /** Folder of the service below `services`. */
  readonly service: string;
  /** Folder for the configuration file. */
  readonly folder: string;
  /** Port of /readyz. */
  readonly readyPort: number;
  readonly config: object;
  /** Variables added to this process's environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Resolve before the service is ready. */
  readonly skipReadiness?: boolean;
}

/** A service started from its build as a separate process. */
export interface ServiceProcess {
  readonly configFile: string;
  readonly pid: number;
  /** Log lines, across restarts. */
  log(): string[];
  /** Resident memory, bytes. */
  residentBytes(): number;
  isReady(): Promise<boolean>;
  /** Kills it, as a crash would. */
  kill(): Promise<void>;
  /** Stops it with SIGTERM; resolves to its exit. */
  terminate(): Promise<string>;
  /**
   * Starts the service again after `kill` or `terminate`. `build`, a folder laid out like this
   * repository, replaces the previous build from now on.
   */
  restart(build?: string): Promise<void>;
  /** Stops it; rejects when it had exited before or exits with an error. */
  stop(): Promise<void>;
}

/** Timeout of a start, ms: on a busy machine it takes half a minute. */
const START_TIMEOUT_MS = 150_000;

export async function startService(spec: ServiceSpec): Promise<ServiceProcess> {
  const { name, folder, readyPort, config } = spec;
  const configFile = join(folder, `${name}.yaml`);
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ logLevel: "info", ...config }));
  const lines: string[] = [];
  let build = root;
  let running = spawnService(spec, { configFile, lines, build });
  let wanted = true;
  const tail = () => lines.slice(-30).join("\n");
  const waitUntilReady = async () => {
    for (const deadline = Date.now() + START_TIMEOUT_MS; !(await isReady(readyPort)); await sleep(30)) {
      if (!running.hasEnded() && Date.now() < deadline) continue;
      running.child.kill("SIGKILL");
      throw new Error(`${name} did not become ready:\n${tail()}`);
    }
  };
  if (spec.skipReadiness !== true) await waitUntilReady();
  const end = async (signal: NodeJS.Signals): Promise<string> => {
    wanted = false;
    const { child, ended } = running;
    if (!running.hasEnded()) child.kill(signal);
    if ((await Promise.race([ended.then(() => true), sleep(START_TIMEOUT_MS, false, { ref: false })])) === false) child.kill("SIGKILL");
    return ended;
  };
  return {
    configFile,
    get pid() {
      return running.child.pid ?? 0;
    },
    log: () => [...lines],
    residentBytes: () => memoryBytes(running.child.pid ?? 0, "VmRSS"),
    isReady: () => isReady(readyPort),
    kill: async () => void (await end("SIGKILL")),
    terminate: () => end("SIGTERM"),
    restart: async (from = build) => {
      build = from;
      running = spawnService(spec, { configFile, lines, build });
      wanted = true;
      await waitUntilReady();
    },
    stop: async () => {
      const early = wanted && running.hasEnded();
      if (!wanted) return;
      const how = await end("SIGTERM");
      if (early || how !== "status 0") throw new Error(`${name} ended ${early ? "by itself " : ""}with ${how}:\n${tail()}`);
    },
  };
}

interface StartedProcess {
  readonly child: ChildProcess;
  /** Exit code or signal. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
}

interface ProcessOptions {
  readonly configFile: string;
  /** Receives the log lines. */
  readonly lines: string[];
  readonly build: string;
}

/**
 * Keeps compiled code: of the repository's programs where stacks keep it, of another build, which
 * is temporary, in its folder.
 */
const compileCacheOf = (build: string): string => (build === root ? join(cacheDir(), "node") : join(build, "compile-cache"));

function spawnService({ service, env }: ServiceSpec, { configFile, lines, build }: ProcessOptions): StartedProcess {
  const program = builtProgram(join(build, "services", service));
  const child = spawn(process.execPath, [program, "--config", configFile], {
    stdio: ["ignore", "pipe", "pipe"],
    // Own session: Ctrl-C reaches only the caller, which stops what it started.
    detached: true,
    env: { NODE_COMPILE_CACHE: compileCacheOf(build), ...process.env, ...env },
  });
  testWatchdog().watch(child, "SIGTERM");
  return { child, ended: follow(child, lines), hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

function isReady(port: number): Promise<boolean> {
  return respondsOk(`http://127.0.0.1:${port}/readyz`);
}

function follow(child: ChildProcess, lines: string[]): Promise<string> {
  let rest = "";
  const keep = (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return new Promise<string>((done) => {
    child.once("error", (error) => done(error.message));
    child.once("exit", (code, signal) => done(signal ?? `status ${code}`));
  });
}
