import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const RUNTIME_BIN = fileURLToPath(new URL("../../../packages/sdk-runtime/bin", import.meta.url));
/** Runs of each program in a turn. */
const RUNS = 5;
const TURNS = 8;
// The last line has the processor time of the children.
const SCRIPT = 'count=0; while [ $count -lt RUNS ]; do "$@" || exit 1; count=$((count + 1)); done; times';

export interface ColdCpu {
  /** Processor time of a task in a new process, ms. */
  readonly coldCpuMs: number;
  /** Processor time of Node.js without a program, in turns with the task, ms. */
  readonly bareCpuMs: number;
  /** Quotient of the two, which depends on the speed of the machine less than they do. */
  readonly coldRatio: number;
}

/**
 * Runs a task of the stack again and again, each time in a new process, in turns with an empty
 * program.
 *
 * @param data folder of the stack
 * @param command command of the task's container
 */
export function measureColdCpu(data: string, command: readonly string[]): ColdCpu {
  const home = mkdtempSync(join(tmpdir(), "flyte-ts-bench-cold-"));
  const PATH = [RUNTIME_BIN, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  try {
    const env = { ...podVariables(data), PATH, HOME: home };
    let cold = 0;
    let bare = 0;
    for (let turn = 0; turn < TURNS; turn++) {
      bare += cpuMs([process.execPath, "-e", "0"], { cwd: home, env });
      cold += cpuMs(command, { cwd: home, env });
    }
    const perRun = (total: number) => Math.round((total / TURNS / RUNS) * 10) / 10;
    return { coldCpuMs: perRun(cold), bareCpuMs: perRun(bare), coldRatio: Math.round((cold / bare) * 100) / 100 };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** Returns the processor time of all runs of a command, ms. */
function cpuMs(command: readonly string[], options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv }): number {
  const script = SCRIPT.replace("RUNS", String(RUNS));
  const { status, stdout, stderr } = spawnSync("sh", ["-c", script, "sh", ...command], { ...options, encoding: "utf8" });
  if (status !== 0) throw new Error(`the program failed in a new process:\n${stderr}`);
  const [, user = "0", system = "0"] = /([\dm.]+)s ([\dm.]+)s\s*$/.exec(stdout) ?? [];
  return milliseconds(user) + milliseconds(system);
}

function milliseconds(time: string): number {
  const [minutes = "0", seconds = "0"] = time.split("m");
  return (Number(minutes) * 60 + Number(seconds)) * 1_000;
}

/** Reads the variables of all pods out of the configuration of the local cluster. */
function podVariables(data: string): Record<string, string> {
  const text = readFileSync(join(data, "config", "local-cluster.yaml"), "utf8");
  return Object.fromEntries([...text.matchAll(/^ +(FLYTE_\w+): "?([^"\n]*)"?$/gm)].map(([, name = "", value = ""]) => [name, value]));
}
