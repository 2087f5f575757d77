import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { type StackOnNode, startStackOnNode } from "../../one-node/node-fixture.js";
import { buildJobImages } from "./job-images.fixture.js";
import { installOperators, NAMESPACE } from "./operators.fixture.js";

const JOBS = join(import.meta.dirname, "jobs");

/** A cluster of one node with DNS, routes to Services and operators, and a stack for it. */
export interface PluginNode extends StackOnNode {
  readonly client: FlyteClient;
  /** Creates an object in the namespace of the executions. */
  create(object: object): void;
  /** Waits for the phase of a pod there; throws when the pod ends in another one. */
  waitForPhase(pod: string, phase: string): Promise<void>;
}

export async function startPluginNode(): Promise<PluginNode> {
  const images = buildJobImages().flatMap((image) => ["--image", JSON.stringify(image)]);
  let stopOperators = (): Promise<unknown> => Promise.resolve();
  const stack = await startStackOnNode({
    flags: ["--services", ...images],
    stackFlags: ["--services", "[plugin-operator]"],
    prepare: async (kubeconfig) => {
      stopOperators = await installOperators(kubeconfig);
    },
  });
  const client = createFlyteClient({ endpoint: `${stack.host}:${stack.api}` });
  const kubectl = (...args: string[]) => stack.kubectl("-n", NAMESPACE, ...args);
  const create = (object: object) => {
    const args = ["--kubeconfig", stack.kubeconfig, "-n", NAMESPACE, "create", "-f", "-"];
    execFileSync("kubectl", args, { input: JSON.stringify(object), stdio: ["pipe", "ignore", "inherit"] });
  };
  create({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "jobs" }, data: jobFiles() });
  return {
    ...stack,
    client,
    kubectl,
    create,
    waitForPhase: async (pod, wanted) => {
      for (;;) {
        const phase = kubectl("get", "pod", pod, "-o", "jsonpath={.status.phase}");
        if (phase === wanted) return;
        if (phase === "Succeeded" || phase === "Failed") throw new Error(`pod ${pod}: ${phase}\n${kubectl("logs", pod)}`);
        await sleep(250);
      }
    },
    stop: async () => {
      client.close();
      // An operator would create pods again that the end of the node deletes.
      await stopOperators();
      return stack.stop();
    },
  };
}

/** Workflows by file name. */
function jobFiles(): Record<string, string> {
  return Object.fromEntries(readdirSync(JOBS).map((name) => [name, readFileSync(join(JOBS, name), "utf8")]));
}
