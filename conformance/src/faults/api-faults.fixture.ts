import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type FaultProxy, kubernetesFixture, type KubernetesFixture, startFaultProxy } from "@flyte-ts/testing";
import { cpuSecondsOf } from "../stack/cpu-time.js";
import { type RunningStack, type StackPart, startStack } from "../stack/stack-fixture.js";
import { root } from "../repository.js";
import { builtProgram } from "../stack/built-program.js";

/** A stack that reaches the Kubernetes API through a proxy that injects faults. */
export interface FaultInjectionStack {
  readonly stack: RunningStack;
  readonly proxy: FaultProxy;
  /** Kubeconfig that bypasses the proxy. */
  readonly kubeconfig: string;
  /** Set only with a real kube-apiserver. */
  readonly kubernetes: KubernetesFixture | undefined;
  stop(): Promise<void>;
}

export async function startFaultInjectionStack(real: boolean): Promise<FaultInjectionStack> {
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of stops.splice(0).reverse()) await step();
  };
  try {
    const kubernetes = real ? await kubernetesFixture({ controllers: true }) : undefined;
    if (kubernetes !== undefined) stops.push(() => kubernetes.stop());
    const local = kubernetes === undefined ? await startLocalCluster() : undefined;
    if (local !== undefined) stops.push(() => local.stop());
    const kubeconfig = kubernetes?.kubeconfig ?? local?.kubeconfig ?? "";
    const proxy = await startFaultProxy(kubernetes ?? { url: /server: (\S+)/.exec(readFileSync(kubeconfig, "utf8"))?.[1] ?? "" });
    stops.push(() => proxy.stop());
    const stack = await startStack(["--no-example", "--kubeconfig", proxy.kubeconfig]);
    stops.push(() => stack.stop());
    return { stack, proxy, kubeconfig, kubernetes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts the API of the local cluster alone, without a stack. */
async function startLocalCluster(): Promise<{ readonly kubeconfig: string; stop(): Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), "flyte-ts-api-"));
  const main = builtProgram(join(root, "services", "local-cluster"));
  const child = spawn(process.execPath, [main, "--dataDir", folder, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<void>((done) => child.once("exit", () => done()));
  await ready(child);
  return {
    kubeconfig: join(folder, "kubeconfig"),
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function ready(child: ChildProcess): Promise<void> {
  if (child.stdout === null) throw new Error("no output");
  for await (const line of createInterface({ input: child.stdout })) {
    if ((JSON.parse(line) as { msg: string }).msg !== "ready") continue;
    child.stdout.resume();
    return;
  }
  throw new Error("the cluster ended before it was ready");
}

/** Processor time that a part of the stack has used, s. */
export function cpuSeconds(stack: RunningStack, part: StackPart): number {
  return stack
    .pids(part)
    .map(cpuSecondsOf)
    .reduce((sum, seconds) => sum + seconds, 0);
}
