import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { testWatchdog } from "@flyte-ts/testing";
import { processesOf, type RunningStack, startStack } from "../stack/stack-fixture.js";
import { root } from "../repository.js";

/**
 * Reason why there is no real node here. A node needs root, minutes for the first start, and the
 * machine's network.
 */
export const skipRealNodeReason = process.env.E2E_KUBERNETES === "1" ? undefined : "set E2E_KUBERNETES=1 to run pods on a real node";

/** Image with flytekit on the node. */
export const flytekitImage = `cr.flyte.org/flyteorg/flytekit:py3.11-${
  /^flytekit==(.+)$/m.exec(readFileSync(join(root, "examples", "python", "requirements.txt"), "utf8"))?.[1] ?? ""
}`;

/** Maximum size of an answer of kubectl; a warm pod in JSON is 25 KiB. */
const MAX_ANSWER_BYTES = 64 << 20;

/** Returns a function that runs kubectl on a cluster and returns what it prints. */
export function kubectlOn(kubeconfig: string): (...args: readonly string[]) => string {
  return (...args) => execFileSync("kubectl", ["--kubeconfig", kubeconfig, ...args], { encoding: "utf8", maxBuffer: MAX_ANSWER_BYTES });
}

/** A real cluster of one node, started with the documented command, and a stack for it. */
export interface StackOnNode extends RunningStack {
  readonly node: string;
  kubectl(...args: string[]): string;
  /** Returns the process id of the kubelet. */
  kubelet(): number;
}

export interface NodeOptions {
  /** Flags of `deploy/one-node/run.mjs`. */
  readonly flags?: readonly string[];
  /** Flags of the stack. */
  readonly stackFlags?: readonly string[];
  /** Called with the kubeconfig of the node's administrator before the services start. */
  readonly prepare?: (kubeconfig: string) => Promise<void>;
  /** Environment of the node's programs and the services. */
  readonly environment?: Readonly<Record<string, string>>;
}

export async function startStackOnNode(options: NodeOptions = {}): Promise<StackOnNode> {
  const { flags = [], stackFlags = [], environment = {}, prepare } = options;
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-one-node-"));
  const child = spawn(process.execPath, [join(root, "deploy", "one-node", "run.mjs"), "--built", "--data", folder, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...environment },
  });
  testWatchdog().watch(child, "SIGTERM");
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  const stopNode = async () => {
    child.kill("SIGTERM");
    await ended;
    const left = processesOf(folder);
    rmSync(folder, { recursive: true, force: true });
    if (left.length > 0) throw new Error(`processes that outlived the node: ${left.map(({ command }) => command).join("; ")}`);
  };
  while (!/^ready$/m.test(output)) {
    if (child.exitCode !== null) throw new Error(`the node did not become ready:\n${output}`);
    await sleep(100);
  }
  const [, kubeconfig = "", host = ""] = /--kubeconfig (\S+) --host (\S+)/.exec(output) ?? [];
  try {
    await prepare?.(kubeconfig);
    const stack = await startStack(["--no-example", "--kubeconfig", kubeconfig, "--host", host, ...stackFlags], environment);
    return {
      ...stack,
      kubeconfig,
      node: "one-node",
      kubectl: kubectlOn(kubeconfig),
      kubelet: () => processesOf(folder).find(({ command }) => /\/kubelet[-\d.]* /.test(command))?.pid ?? 0,
      stop: () => stack.stop().finally(stopNode),
    };
  } catch (error) {
    await stopNode();
    throw error;
  }
}
