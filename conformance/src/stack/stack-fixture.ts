import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type KubernetesFixture, kubernetesFixture, testWatchdog } from "@flyte-ts/testing";
import { root } from "../repository.js";
import { builtProgram } from "./built-program.js";

const WARM_PYTHON = ["LOCAL_CLUSTER", "NODE_RUNNER"].map((service) => `FLYTE_TS_${service}_WARMPYTHON`);
/**
 * Starts Python for the first task that needs it, with flytekit alone: few stacks of tests run
 * tasks in Python.
 */
export const LAZY_PYTHON: Readonly<Record<string, string>> = Object.fromEntries(
  WARM_PYTHON.flatMap((name) => [
    [`${name}__AHEAD`, "false"],
    [`${name}__MODULES`, "[]"],
  ]),
);

/** Starts Python with the stack and with preloaded modules, as `npm start` does. */
export const WARM_PYTHON_DEFAULTS: Readonly<Record<string, undefined>> = Object.fromEntries(
  Object.keys(LAZY_PYTHON).map((name) => [name, undefined]),
);

/** Time for processes to exit after their parent has exited, ms. */
const EXIT_TIMEOUT_MS = 5_000;

/** A whole local stack, started by the documented command on free ports and in its own folder. */
export interface RunningStack {
  readonly folder: string;
  /** Host of API and blob store. */
  readonly host: string;
  readonly api: number;
  readonly blobs: number;
  readonly kubeconfig: string;
  /** The real Kubernetes API that the stack uses, if it was started on one. */
  readonly kubernetes?: KubernetesFixture;
  /** Folder of pyflyte. */
  readonly pythonBin: string;
  /**
   * Process ids of one part by its name in the command line: `admin`, `propeller`, `postgres`,
   * `nats` …
   */
  pids(part: StackPart): number[];
  /** Output of the stack so far. */
  output(): string;
  /** Signals the supervisor process. */
  signal(signal: NodeJS.Signals): void;
  /** Stops it as Ctrl-C does. Resolves to its exit code. */
  stop(): Promise<number>;
}

/**
 * Id of a service, such as `admin`, a further replica of it, such as `propeller-2`, or the name of
 * a server.
 */
export type StackPart = string;

/**
 * Starts the stack on a real kube-apiserver with its garbage collector and other controllers; both
 * stop together.
 */
export async function startStackOnKubernetes(
  flags: readonly string[] = ["--no-example"],
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<RunningStack> {
  const kubernetes = await kubernetesFixture({ controllers: true });
  try {
    const stack = await startStack([...flags, "--kubeconfig", kubernetes.kubeconfig], environment);
    const stop = async () => {
      try {
        return await stack.stop();
      } finally {
        await kubernetes.stop();
      }
    };
    return { ...stack, kubeconfig: kubernetes.kubeconfig, kubernetes, stop };
  } catch (error) {
    await kubernetes.stop();
    throw error;
  }
}

/** Creates a folder for the data of a stack. */
export const stackFolder = (): string => mkdtempSync(join(tmpdir(), "flyte-ts-stack-"));

/**
 * @param environment further variables, which replace those of the caller; `undefined` removes one
 * @param folder folder for its data; deleted when the stack stops
 */
export async function startStack(
  flags: readonly string[] = ["--no-example"],
  environment: Readonly<Record<string, string | undefined>> = {},
  folder = stackFolder(),
): Promise<RunningStack> {
  const child = spawn(
    process.execPath,
    [builtProgram(join(root, "packages/cli")), "start", "--data", folder, "--port", "0", "--blobPort", "0", ...flags],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...LAZY_PYTHON, ...environment },
    },
  );
  testWatchdog().watch(child, "SIGINT");
  const { output, ended } = collectOutput(child);
  for (let waited = 0; !/^ready$/m.test(output()); waited += 50) {
    if (child.exitCode !== null || waited > 240_000) throw new Error(`the stack did not become ready:\n${output()}`);
    await sleep(50);
  }
  const ports = JSON.parse(readFileSync(join(folder, "config", "ports.json"), "utf8")) as { api: number; blobs: number };
  return {
    folder,
    host: flags[flags.indexOf("--host") + 1 || flags.length] ?? "127.0.0.1",
    api: ports.api,
    blobs: ports.blobs,
    kubeconfig: join(folder, "kubeconfig"),
    pythonBin: readFileSync(join(folder, "config", "python-bin"), "utf8"),
    pids: (part) =>
      processesOf(folder)
        .filter(({ command }) => isPart(command, part, folder))
        .map(({ pid }) => pid),
    output,
    signal: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill("SIGINT");
      const status = await ended;
      for (let waited = 0; waited < EXIT_TIMEOUT_MS && processesOf(folder).length > 0; waited += 50) await sleep(50);
      const left = processesOf(folder);
      rmSync(folder, { recursive: true, force: true });
      if (left.length > 0) throw new Error(`processes left behind: ${left.map(({ pid, command }) => `${pid} ${command}`).join("; ")}`);
      return status;
    },
  };
}

/** URL of the bus with the user and password of a service. */
export function busUrl({ folder }: RunningStack, service: string): string {
  const url = /nats:\/\/\S+/.exec(readFileSync(join(folder, "config", `${service}.yaml`), "utf8"))?.[0];
  if (url === undefined) throw new Error(`${service} has no address of the message bus`);
  return url;
}

/** Key of the stack's blob store; each stack has a new one. */
export function blobStoreKeyOf({ folder }: RunningStack): { accessKeyId: string; secretAccessKey: string } {
  const text = readFileSync(join(folder, "client.env"), "utf8");
  const read = (name: string): string => {
    const value = new RegExp(`^export ${name}='([^']*)'$`, "m").exec(text)?.[1];
    if (value === undefined) throw new Error(`client.env of the stack does not set ${name}`);
    return value;
  };
  return { accessKeyId: read("FLYTE_AWS_ACCESS_KEY_ID"), secretAccessKey: read("FLYTE_AWS_SECRET_ACCESS_KEY") };
}

/**
 * Runs a program of the stack's Python environment in a folder without configuration. Returns its
 * output; throws when it fails.
 */
export function runPython(
  { stack, folder }: { readonly stack: RunningStack; readonly folder: string },
  program: string,
  args: readonly string[],
): string {
  const env = {
    ...process.env,
    PATH: `${stack.pythonBin}:${process.env.PATH}`,
    FLYTE_PLATFORM_URL: `${stack.host.replace("127.0.0.1", "localhost")}:${stack.api}`,
    FLYTE_PLATFORM_INSECURE: "true",
  };
  return execFileSync(join(stack.pythonBin, program), args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
}

function collectOutput(child: ChildProcess): { output: () => string; ended: Promise<number> } {
  let text = "";
  const keep = (chunk: Buffer) => {
    text += chunk.toString();
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  return { output: () => text, ended: new Promise((done) => child.once("exit", (code) => done(code ?? 1))) };
}

/** Live processes whose command line or environment contains the folder. */
export function processesOf(folder: string): { pid: number; command: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name) => {
      try {
        const command = readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").trim();
        const state = readFileSync(`/proc/${name}/stat`, "utf8").split(") ")[1]?.[0];
        const environment = existsSync(`/proc/${name}/environ`) ? readFileSync(`/proc/${name}/environ`, "utf8") : "";
        return state !== "Z" && (command.includes(folder) || environment.includes(folder)) ? [{ pid: Number(name), command }] : [];
      } catch {
        return [];
      }
    });
}

function isPart(command: string, part: StackPart, folder: string): boolean {
  switch (part) {
    case "postgres":
      return command.includes(`-D ${folder}/postgres/data`);
    case "nats":
      return command.includes(`-sd ${folder}/nats`);
    default:
      return command.includes(`--config ${folder}/config/${part}.yaml`);
  }
}
