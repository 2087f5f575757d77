import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { testWatchdog } from "@flyte-ts/testing";
import { answers } from "./answers.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");

export interface ServiceSpec {
  /** Of the configuration file and of messages. */
  readonly name: string;
  /** Folder of the service below `services`. */
  readonly service: string;
  /** Where the configuration file goes. */
  readonly folder: string;
  /** Where it answers /readyz. */
  readonly readyPort: number;
  readonly config: object;
  /** Added to this process's. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether it may still be starting when it is handed out. */
  readonly unready?: boolean;
}

/** A service that was started from its build, as a process of its own. */
export interface ServiceProcess {
  readonly configFile: string;
  readonly pid: number;
  /** What it has logged, line by line, over restarts. */
  log(): string[];
  /** Bytes of memory that it holds. */
  residentBytes(): number;
  isReady(): Promise<boolean>;
  /** Ends it as a crash would. */
  kill(): Promise<void>;
  /** Asks it to end; resolves to how it ended. */
  terminate(): Promise<string>;
  /** Starts it again after either; from then on from another build, if one is given: the folder that is to it what the repository's is to this one. */
  restart(build?: string): Promise<void>;
  /** Ends it; rejects when it had ended by itself before or ends badly. */
  stop(): Promise<void>;
}

/** On a machine that is busy with other things a start takes half a minute. */
const PATIENCE_MS = 150_000;

export async function startService(spec: ServiceSpec): Promise<ServiceProcess> {
  const { name, folder, readyPort, config } = spec;
  const configFile = join(folder, `${name}.yaml`);
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ logLevel: "info", ...config }));
  const lines: string[] = [];
  let build = root;
  let running = begin(spec, { configFile, lines, build });
  let wanted = true;
  const tail = () => lines.slice(-30).join("\n");
  const whenReady = async () => {
    for (const deadline = Date.now() + PATIENCE_MS; !(await isReady(readyPort)); await sleep(30)) {
      if (!running.hasEnded() && Date.now() < deadline) continue;
      running.child.kill("SIGKILL");
      throw new Error(`${name} did not become ready:\n${tail()}`);
    }
  };
  if (spec.unready !== true) await whenReady();
  const end = async (signal: NodeJS.Signals): Promise<string> => {
    wanted = false;
    const { child, ended } = running;
    if (!running.hasEnded()) child.kill(signal);
    if ((await Promise.race([ended.then(() => true), sleep(PATIENCE_MS, false, { ref: false })])) === false) child.kill("SIGKILL");
    return ended;
  };
  return {
    configFile,
    get pid() {
      return running.child.pid ?? 0;
    },
    log: () => [...lines],
    residentBytes: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${running.child.pid}/status`, "utf8"))?.[1]) * 1024,
    isReady: () => isReady(readyPort),
    kill: async () => void (await end("SIGKILL")),
    terminate: () => end("SIGTERM"),
    restart: async (from = build) => {
      build = from;
      running = begin(spec, { configFile, lines, build });
      wanted = true;
      await whenReady();
    },
    stop: async () => {
      const early = wanted && running.hasEnded();
      if (!wanted) return;
      const how = await end("SIGTERM");
      if (early || how !== "status 0") throw new Error(`${name} ended ${early ? "by itself " : ""}with ${how}:\n${tail()}`);
    },
  };
}

interface Begun {
  readonly child: ChildProcess;
  /** How it ended. */
  readonly ended: Promise<string>;
  hasEnded(): boolean;
}

interface Beginning {
  readonly configFile: string;
  /** Where what it logs goes. */
  readonly lines: string[];
  readonly build: string;
}

function begin({ service, env }: ServiceSpec, { configFile, lines, build }: Beginning): Begun {
  const program = join(build, "services", service, "dist", "main.js");
  const child = spawn(process.execPath, [program, "--config", configFile], {
    stdio: ["ignore", "pipe", "pipe"],
    // A session of its own: Ctrl-C reaches the caller alone, who stops what it started.
    detached: true,
    env: { ...process.env, ...env },
  });
  testWatchdog().watch(child, "SIGTERM");
  return { child, ended: follow(child, lines), hasEnded: () => child.exitCode !== null || child.signalCode !== null };
}

function isReady(port: number): Promise<boolean> {
  return answers(`http://127.0.0.1:${port}/readyz`);
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
