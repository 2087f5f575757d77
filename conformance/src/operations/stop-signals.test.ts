import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createFlyteClient } from "@flyte-ts/client";
import { expect, test } from "vitest";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { processesOf, type RunningStack, startStack, WARM_PYTHON_DEFAULTS } from "../stack/stack-fixture.js";

// However a stack is stopped, nothing of it may remain: no servers, services or pods of tasks.

/** `STOP_SIGNALS=full`: every way, otherwise half of them. */
const FULL = process.env.STOP_SIGNALS === "full";

type SignalSequence = readonly NodeJS.Signals[];

const SHORT: readonly SignalSequence[] = [["SIGINT"], ["SIGTERM", "SIGTERM"], ["SIGKILL"]];
const LONG: readonly SignalSequence[] = [...SHORT, ["SIGINT", "SIGINT"], ["SIGHUP"], ["SIGTERM", "SIGKILL"]];

/** Starts a stack with a running task. */
async function startBusyStack(): Promise<RunningStack> {
  const stack = await startStack(["--no-example"], WARM_PYTHON_DEFAULTS);
  const client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  const note = join(stack.folder, "runs");
  // The task also starts a process in its own session, as the helpers of some libraries do.
  const script = `setsid sleep 601 & echo yes > ${note}; exec sleep 600`;
  const launchPlan = await registerShellWorkflow(client, "endless", [{ id: "n0", script, after: [] }]);
  await client.admin.createExecution({
    project: launchPlan.project,
    domain: launchPlan.domain,
    name: "endless",
    spec: { launchPlan, metadata: {} },
    inputs: {},
  });
  await expect.poll(() => existsSync(note) && readFileSync(note, "utf8"), { timeout: 60_000 }).toBe("yes\n");
  client.close();
  return stack;
}

test.each((FULL ? LONG : SHORT).map((way) => ({ way })))(
  "nothing of a stack remains after $way",
  async ({ way }) => {
    const stack = await startBusyStack();
    try {
      expect(processesOf(stack.folder).length).toBeGreaterThan(8);
      for (const signal of way) {
        stack.signal(signal);
        await sleep(200);
      }
      await expect.poll(() => processesOf(stack.folder), { timeout: 100_000, interval: 100 }).toEqual([]);
    } finally {
      rmSync(stack.folder, { recursive: true, force: true });
    }
  },
  300_000,
);
