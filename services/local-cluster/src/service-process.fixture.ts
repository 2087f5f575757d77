import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";

const root = join(import.meta.dirname, "..", "..", "..");

/** The service in a separate process that can be killed. */
export interface ServiceProcess {
  readonly port: number;
  readonly process: ChildProcess;
  kill(signal: NodeJS.Signals): Promise<void>;
}

/** Compiles the service, so that the process runs the current sources. */
export function buildService(): void {
  execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-b", join(root, "services", "local-cluster")], { stdio: "pipe" });
}

export async function startService(folder: string, flags: readonly string[] = []): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(root, "services", "local-cluster", "dist", "main.js"), "--dataDir", folder, ...flags], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const entry = JSON.parse(line) as { msg: string; port: number };
    if (entry.msg !== "ready") continue;
    child.stdout.resume();
    return {
      port: entry.port,
      process: child,
      kill: async (signal) => {
        child.kill(signal);
        if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      },
    };
  }
  throw new Error("the service ended before it was ready");
}
