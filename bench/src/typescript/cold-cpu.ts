import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

const RUNTIME_BIN = fileURLToPath(new URL("../../../packages/sdk-runtime/bin", import.meta.url));
const RUNS = 20;
// The last line has the processor time of the children.
const SCRIPT = 'count=0; while [ $count -lt RUNS ]; do "$@" || exit 1; count=$((count + 1)); done; times';

/**
 * Runs a task of the stack again and again, each time in a new process.
 *
 * @param data folder of the stack
 * @param command command of the task's container
 * @returns processor time of one run, ms
 */
export function coldCpuMs(data: string, command: readonly string[]): number {
  const home = mkdtempSync(join(tmpdir(), "flyte-ts-bench-cold-"));
  const PATH = [RUNTIME_BIN, dirname(process.execPath), process.env["PATH"]].join(delimiter);
  try {
    const env = { ...podVariables(data), PATH, HOME: home };
    const { status, stdout, stderr } = spawnSync("sh", ["-c", SCRIPT.replace("RUNS", String(RUNS)), "sh", ...command], {
      cwd: home,
      env,
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`the task failed in a new process:\n${stderr}`);
    const [, user = "0", system = "0"] = /([\dm.]+)s ([\dm.]+)s\s*$/.exec(stdout) ?? [];
    return Math.round((milliseconds(user) + milliseconds(system)) / RUNS);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
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
