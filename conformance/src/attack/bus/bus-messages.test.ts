import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { WorkflowExecution_Phase } from "@flyte-ts/idl/flyteidl/core/execution_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { waitForEnd } from "../../stack/executions.js";
import { registerSleepChain, sleepInputs } from "../../stack/sleep-chain.js";
import { busUrl, type RunningStack, type StackPart, startStack } from "../../stack/stack-fixture.js";
import {
  forgedPayloads,
  type HostilePayload,
  type MessageKind,
  UNREADABLE_NAMES,
  unreadablePayload,
  unstoredPayloads,
} from "./hostile-messages.fixture.js";
import { minimumCost } from "../exhaustion/process-cost.fixture.js";
import { openRawBus, type RawBus } from "./raw-bus.fixture.js";

// Publishes messages that a compromised service could send with its own credentials, and checks the
// services that receive them.

const SERVICES: readonly StackPart[] = ["admin", "propeller", "plugin-pod", "plugin-echo"];
const BOUNDS = { processorMs: 100, peakBytes: 64 * 1024 * 1024 };
const TIMEOUT = { timeout: 60_000, interval: 20 };

let stack: RunningStack;
let client: FlyteClient;
let chain: Identifier;
let processes: string;
const users = new Map<string, RawBus>();
beforeAll(async () => {
  stack = await startStack(["--no-example"]);
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
  for (const user of ["admin", "propeller", "plugin-pod", "plugin-echo"] as const) {
    const { port, username, password } = new URL(busUrl(stack, user));
    users.set(user, await openRawBus({ port: Number(port), user: username, password }));
  }
  chain = await registerSleepChain(client, 3);
  await runChain();
  processes = pids();
}, 300_000);
afterAll(async () => {
  for (const bus of users.values()) bus.close();
  client?.close();
  await stack?.stop();
}, 60_000);

/** No service has restarted. */
afterEach(() => {
  if (pids() !== processes) throw new Error(`a service has ended: ${processes} before, now ${pids()}`);
});

const pids = () => JSON.stringify(SERVICES.map((part) => stack.pids(part)));

const connectAs = (user: string): RawBus => {
  const bus = users.get(user);
  if (bus === undefined) throw new Error(`${user} is not a user of the stack's bus`);
  return bus;
};

let count = 0;
async function runChain(): Promise<void> {
  const id = { project: chain.project, domain: chain.domain, name: `chain${count++}` };
  await client.admin.createExecution({ ...id, spec: { launchPlan: chain, metadata: {} }, inputs: sleepInputs(0) });
  const { closure } = await waitForEnd(client, id, 60_000);
  expect(WorkflowExecution_Phase[closure?.phase ?? 0]).toBe("SUCCEEDED");
}

async function stored(stream: string): Promise<number> {
  const { state } = await connectAs("plugin-echo").request(`$JS.API.STREAM.INFO.${stream}`);
  return (state as { readonly messages: number }).messages;
}

/** Counts the dead letters of all services by their own metrics. */
async function deadLetters(): Promise<number> {
  const { ops } = JSON.parse(readFileSync(join(stack.folder, "config", "ports.json"), "utf8")) as { ops: Record<string, number> };
  let sum = 0;
  for (const service of SERVICES) {
    const port = ops[service];
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    for (const line of text.matchAll(/^flyte_bus_dead_letters_total\{.*\} (\d+)$/gm)) sum += Number(line[1]);
  }
  return sum;
}

interface Target {
  readonly user: string;
  readonly subject: string;
  readonly kind: MessageKind;
  /** Services that consume the subject. */
  readonly consumers: readonly StackPart[];
}

const TARGETS: readonly Target[] = [
  { user: "propeller", subject: "flyte.task.echo.3", kind: "request", consumers: ["plugin-echo"] },
  { user: "propeller", subject: "flyte.task.core-sleep.31", kind: "request", consumers: ["plugin-echo"] },
  { user: "propeller", subject: "flyte.task.python-task.3", kind: "request", consumers: ["plugin-pod"] },
  { user: "propeller", subject: "flyte.event.execution.3", kind: "execution-event", consumers: ["admin"] },
  { user: "plugin-echo", subject: "flyte.event.task.3", kind: "task-event", consumers: ["admin", "propeller"] },
  { user: "plugin-pod", subject: "flyte.event.task.31", kind: "task-event", consumers: ["admin", "propeller"] },
];

describe.each(TARGETS)("on $subject, as $user", ({ user, subject, kind, consumers }) => {
  const send = ({ data, headers }: HostilePayload) => connectAs(user).publish({ subject, data, headers });

  test("undecodable messages become counted dead letters", async () => {
    const payloads = UNREADABLE_NAMES.map((name) => unreadablePayload(kind, name));
    const before = { counted: await deadLetters(), kept: await stored("FLYTE_DEAD_LETTERS") };
    for (const payload of payloads) send(payload);
    expect(await connectAs(user).flush()).toEqual([]);
    const wanted = payloads.length * consumers.length;
    await expect.poll(async () => (await deadLetters()) - before.counted, TIMEOUT).toBeGreaterThanOrEqual(wanted);
    await expect.poll(async () => (await stored("FLYTE_DEAD_LETTERS")) - before.kept, TIMEOUT).toBeGreaterThanOrEqual(wanted);
    await runChain();
  }, 120_000);

  test("forged and repeated messages, and those about missing objects, do no harm", async () => {
    const payloads = Object.values(forgedPayloads(kind));
    for (const payload of [...payloads, ...payloads, ...payloads]) send(payload);
    expect(await connectAs(user).flush()).toEqual([]);
    await runChain();
  }, 120_000);
});

const COSTLY = ["gzip of 80 MB", "gzip of 7 million empty literals", "literals 40,000 levels deep", "a bundle of 250,000 empty messages"];
const MEASURED = TARGETS.filter(({ subject }) => /python|execution|task\.3$/.test(subject)).flatMap((target) =>
  target.consumers.flatMap((consumer) => COSTLY.map((payload) => ({ ...target, consumer, payload }))),
);

test.each(MEASURED)(
  "$consumer refuses $payload on $subject within 100 ms of processor time",
  async ({ user, subject, kind, consumer, payload }) => {
    const { data, headers } = unreadablePayload(kind, payload);
    const [pid] = stack.pids(consumer);
    const cost = await minimumCost(pid as number, BOUNDS, async () => {
      const before = await stored("FLYTE_DEAD_LETTERS");
      connectAs(user).publish({ subject, data, headers });
      await expect.poll(() => stored("FLYTE_DEAD_LETTERS"), TIMEOUT).toBeGreaterThan(before);
    });
    expect(cost.processorMs).toBeLessThanOrEqual(BOUNDS.processorMs);
    expect(cost.peakBytes).toBeLessThanOrEqual(BOUNDS.peakBytes);
  },
  120_000,
);

describe("on subjects that no stream stores", () => {
  test.each([
    ["plugin-echo", ["flyte.plugin.hello", "flyte.plugin.hello.echo"]],
    ["plugin-pod", ["flyte.plugin.hello"]],
    ["admin", ["flyte.admin.changed", "flyte.wake.3", "flyte.recorded.3", "flyte.wake.99", "flyte.recorded.x"]],
  ] as const)(
    "%s does no harm with undecodable messages",
    async (user, subjects) => {
      const payloads = Object.values(unstoredPayloads());
      for (const subject of subjects) for (const { data, headers } of payloads) connectAs(user).publish({ subject, data, headers });
      expect(await connectAs(user).flush()).toEqual([]);
      await runChain();
    },
    120_000,
  );
});
