import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient } from "@flyte-ts/client";
import { booleanLiteral } from "@flyte-ts/domain/literal";
import { NodeExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import { registerGates } from "../../attack/exhaustion/hostile-workflows.fixture.js";
import { waitForEnd } from "../../stack/executions.js";
import { TARGET } from "../../stack/shell-tasks.js";
import { sleepInputs } from "../../stack/sleep-chain.js";

const TIMEOUT_MS = 120_000;

/**
 * Runs a workflow of gate nodes and sets their signals one after the other.
 *
 * @returns for each signal the time from its response until admin reported the end of its node, ms
 */
export async function signalTimes(endpoint: string, gates: number): Promise<number[]> {
  const client = createFlyteClient({ endpoint });
  try {
    const launchPlan = await registerGates(client, gates);
    const { project, domain } = TARGET;
    const { id } = await client.admin.createExecution({
      project,
      domain,
      spec: { launchPlan, metadata: { principal: "records" } },
      inputs: sleepInputs(0),
    });
    if (id === undefined) throw new Error("the execution has no name");
    const phaseOf = async (nodeId: string) => {
      const node = await client.admin.getNodeExecution({ id: { executionId: id, nodeId } }).catch(() => undefined);
      return node?.closure?.phase ?? NodeExecution_Phase.UNDEFINED;
    };
    const until = async (nodeId: string, phase: NodeExecution_Phase) => {
      for (const deadline = Date.now() + TIMEOUT_MS; (await phaseOf(nodeId)) !== phase; await sleep(20))
        if (Date.now() > deadline) throw new Error(`${nodeId} of ${id.name} is not ${NodeExecution_Phase[phase]} after two minutes`);
    };
    const times: number[] = [];
    for (let gate = 0; gate < gates; gate++) {
      await until(`g${gate}`, NodeExecution_Phase.RUNNING);
      // Vary the offset to the period with which propeller reads signals.
      await sleep((gate * 370) % 1_000);
      await client.signals.setSignal({ id: { executionId: id, signalId: `s${gate}` }, value: booleanLiteral(true) });
      const set = performance.now();
      await until(`g${gate}`, NodeExecution_Phase.SUCCEEDED);
      times.push(Math.round(performance.now() - set));
    }
    await waitForEnd(client, id, TIMEOUT_MS);
    return times;
  } finally {
    client.close();
  }
}
