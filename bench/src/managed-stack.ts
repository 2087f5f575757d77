import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Backend } from "./backend.js";

/** A stack started for a measurement, on free ports. */
export interface ManagedStack {
  readonly endpoint: string;
  /** Folder of its state. */
  readonly dataDir: string;
  /** File with the address of its Kubernetes API, and its credentials. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("../../packages/cli/dist/main.js", import.meta.url));
const START_TIMEOUT_MS = 240_000;

/**
 * @param keptDir folder with the state of an earlier stack, which stays; default: a new one
 * @throws Error with its output when it does not become ready
 */
export async function startManagedStack({ flags, env, kubeconfig }: Backend, keptDir?: string): Promise<ManagedStack> {
  const dataDir = keptDir ?? mkdtempSync(join(tmpdir(), "flyte-ts-bench-stack-"));
  const args = [PROGRAM, "start", "--data", dataDir, "--port", "0", "--blobPort", "0", "--no-example", "--logLevel", "warn", ...flags];
  const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const keep = (chunk: Buffer) => {
    output += chunk.toString();
  };
  child.stdout.on("data", keep);
  child.stderr.on("data", keep);
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.kill("SIGINT");
    await ended;
    if (keptDir === undefined) rmSync(dataDir, { recursive: true, force: true });
  };
  for (let waited = 0; !/^ready$/m.test(output); waited += 50) {
    if (child.exitCode !== null || waited > START_TIMEOUT_MS) {
      await stop();
      throw new Error(`the stack did not become ready:\n${output}`);
    }
    await sleep(50);
  }
  const { api } = JSON.parse(readFileSync(join(dataDir, "config", "ports.json"), "utf8")) as { api: number };
  return { endpoint: `127.0.0.1:${api}`, dataDir, kubeconfig: kubeconfig ?? join(dataDir, "kubeconfig"), stop };
}
