import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import type { Execution } from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { Literal } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { plainLiteral } from "../examples/plain-literal.js";
import { kubectlOn, type StackOnNode, startStackOnNode } from "../one-node/node-fixture.js";
import { waitForEnd } from "../stack/executions.js";
import { runPython, startStack } from "../stack/stack-fixture.js";

export const MODES = ["prewarmed", "reused"] as const;
export type Mode = (typeof MODES)[number];

const WORKFLOWS = join(import.meta.dirname.replace(/\/dist\//, "/src/"), "workflows");
export const scope = { project: "flytesnacks", domain: "development" };
const NAMESPACE = `${scope.project}-${scope.domain}`;
const POLL_MS = 100;
const TIMEOUT_MS = 240_000;

/** The part of a pod that the tests look at. */
export interface SeenPod {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
  };
  readonly status: { readonly phase: string; readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

export interface EndedRun {
  readonly name: string;
  readonly phase: string;
  readonly output: unknown;
  readonly code: string;
  readonly execution: Execution;
}

/** A real node and a stack with warm pods, whose tasks choose their modes. */
export class WarmNode {
  readonly client: FlyteClient;

  private constructor(readonly stack: StackOnNode) {
    this.client = createFlyteClient({ endpoint: `${stack.host}:${stack.api}` });
  }

  /**
   * `WARM_NODE=KUBECONFIG,HOST` uses a node that runs already.
   *
   * @param environment further settings of the stack
   */
  static async start(environment: Readonly<Record<string, string>>): Promise<WarmNode> {
    const settings = { FLYTE_TS_PLUGIN_POD_WARMPODS__ENABLED: "true", ...environment };
    const node = new WarmNode(await startOn(process.env["WARM_NODE"], settings));
    // Those of an earlier run belong to other kinds, which look the same.
    node.kubectl("delete", "pods", "-l", "flyte.org/warm", "--ignore-not-found", "--grace-period=1");
    runPython({ stack: node.stack, folder: WORKFLOWS }, "pyflyte", ["register", "--version", "v1", WORKFLOWS]);
    return node;
  }

  async stop(): Promise<void> {
    this.client.close();
    await this.stack.stop();
  }

  /** Starts a workflow, such as `isolation.reused`. Resolves to the name of the execution. */
  async launch(workflow: string, inputs: Readonly<Record<string, Literal>>): Promise<string> {
    const launchPlan = { ...scope, resourceType: ResourceType.LAUNCH_PLAN, name: `workflows.${workflow}`, version: "v1" };
    const { id } = await this.client.admin.createExecution({ ...scope, spec: { launchPlan, metadata: {} }, inputs: { literals: inputs } });
    return id?.name ?? "";
  }

  async end(name: string): Promise<EndedRun> {
    const execution = await waitForEnd(this.client, { ...scope, name }, TIMEOUT_MS);
    const data = await this.client.admin.getExecutionData({ id: execution.id });
    const [output] = Object.values(data.fullOutputs?.literals ?? {});
    const result = execution.closure?.outputResult;
    return {
      name,
      execution,
      phase: WorkflowExecution_Phase[execution.closure?.phase ?? 0] ?? "",
      output: output === undefined ? undefined : plainLiteral(output),
      code: result?.case === "error" ? result.value.code : "",
    };
  }

  async run(workflow: string, inputs: Readonly<Record<string, Literal>>): Promise<EndedRun> {
    return this.end(await this.launch(workflow, inputs));
  }

  kubectl(...args: string[]): string {
    return this.stack.kubectl("-n", NAMESPACE, ...args);
  }

  pods(selector = ""): readonly SeenPod[] {
    const selected = selector === "" ? [] : ["-l", selector];
    return (JSON.parse(this.kubectl("get", "pods", ...selected, "-o", "json")) as { items: SeenPod[] }).items;
  }

  /**
   * Waits until one pod of the mode is ready for the next attempt, and deletes the others. Resolves
   * to its name.
   *
   * @param expected a pod that is awaited while it runs; another one takes its place otherwise
   */
  async onlyIdlePod(mode: Mode, expected?: string): Promise<string> {
    for (let waited = 0; ; waited += POLL_MS) {
      const pods = this.pods().filter(isRunning);
      const idle = pods.filter(({ metadata: { labels } }) => labels?.["flyte.org/warm"] === "idle" && modeOf(labels) === mode);
      // An ended attempt's pod is offered to the next attempt before it is idle again.
      const taken = pods.filter(({ metadata: { labels } }) => labels?.["flyte.org/warm"] === "taken" && modeOf(labels) === mode);
      const awaited = pods.find(({ metadata }) => metadata.name === expected);
      const chosen = awaited ?? idle.find(isReady);
      const others = idle.filter((pod) => pod !== chosen).map(({ metadata }) => metadata.name);
      if (chosen !== undefined && others.length > 0)
        this.kubectl("delete", "pods", ...others, "--wait=false", "--ignore-not-found", "--grace-period=1");
      else if (chosen !== undefined && taken.length === 0 && isReady(chosen)) return chosen.metadata.name;
      if (waited > TIMEOUT_MS) throw new Error(`no pod became idle:\n${this.kubectl("get", "pods", "-L", "flyte.org/warm,execution-id")}`);
      await sleep(POLL_MS);
    }
  }
}

const isRunning = ({ metadata, status }: SeenPod): boolean =>
  metadata.deletionTimestamp === undefined && status.phase !== "Succeeded" && status.phase !== "Failed";

const isReady = ({ status }: SeenPod): boolean =>
  status.conditions?.some(({ type, status: value }) => type === "Ready" && value === "True") === true;

const modeOf = (labels: SeenPod["metadata"]["labels"]): Mode => (labels?.["flyte.org/warm-mode"] === "reused" ? "reused" : "prewarmed");

async function startOn(running: string | undefined, environment: Readonly<Record<string, string>>): Promise<StackOnNode> {
  if (running === undefined) return startStackOnNode({ environment });
  const [kubeconfig = "", host = ""] = running.split(",");
  const stack = await startStack(["--no-example", "--kubeconfig", kubeconfig, "--host", host], environment);
  const kubelet = (): number => {
    throw new Error("the kubelet of a node that runs already is not known");
  };
  return { ...stack, kubeconfig, node: "one-node", kubectl: kubectlOn(kubeconfig), kubelet };
}
