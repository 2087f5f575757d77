import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createFlyteClient, type FlyteClient } from "@flyte-ts/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { waitForEnd } from "../stack/executions.js";
import { registerShellWorkflow } from "../stack/shell-tasks.js";
import { type RunningStack, startStack } from "../stack/stack-fixture.js";

interface ReceivedSpan {
  readonly service: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code: number; readonly message?: string };
}
interface ExportRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly { readonly value: { readonly stringValue: string } }[] };
    readonly scopeSpans: readonly { readonly spans: readonly Omit<ReceivedSpan, "service">[] }[];
  }[];
}

const SERVICES = ["PROPELLER", "ADMIN"] as const;
const received: ReceivedSpan[] = [];
let collector: Server;
let stack: RunningStack;
let client: FlyteClient;

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { resourceSpans } = JSON.parse(Buffer.concat(chunks).toString()) as ExportRequest;
      for (const { resource, scopeSpans } of resourceSpans)
        for (const { spans } of scopeSpans)
          for (const span of spans) received.push({ ...span, service: resource.attributes[0]?.value.stringValue ?? "" });
      response.end("{}");
    });
  });
  await new Promise<void>((resolve) => collector.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  for (const service of SERVICES) process.env[`FLYTE_TS_${service}_TRACING__ENDPOINT`] = endpoint;
  stack = await startStack();
  for (const service of SERVICES) delete process.env[`FLYTE_TS_${service}_TRACING__ENDPOINT`];
  client = createFlyteClient({ endpoint: `127.0.0.1:${stack.api}` });
}, 300_000);
afterAll(async () => {
  client.close();
  await stack.stop();
  collector.close();
}, 60_000);

test("an execution is one trace across services, from its creation to its attempts", async () => {
  const launchPlan = await registerShellWorkflow(client, "traced", [
    { id: "n0", script: "true", after: [] },
    { id: "n1", script: "exit 1", after: ["n0"] },
  ]);
  const id = { project: launchPlan.project, domain: launchPlan.domain, name: `t${Date.now().toString(36)}` };
  await client.admin.createExecution({ ...id, spec: { launchPlan, metadata: {} }, inputs: {} });
  await waitForEnd(client, id, 60_000);
  await expect.poll(() => received.find(({ name }) => name === id.name), { timeout: 20_000 }).toBeDefined();
  const workflow = received.find(({ name }) => name === id.name);
  const trace = received.filter(({ traceId }) => traceId === workflow?.traceId);
  const named = (name: string) => trace.filter((span) => span.name === name);
  expect(workflow?.status).toMatchObject({ code: 2 });
  for (const node of ["n0", "n1"]) {
    const [span, ...more] = named(node);
    expect(more).toEqual([]);
    expect(span?.parentSpanId).toBe(workflow?.spanId);
    expect(BigInt(span?.endTimeUnixNano ?? 0)).toBeGreaterThan(BigInt(span?.startTimeUnixNano ?? 0));
    expect(named("attempt 0").filter(({ parentSpanId }) => parentSpanId === span?.spanId)).toHaveLength(1);
  }
  expect(named("n1")[0]?.status.message).toContain("exit code (1)");
  expect(named("status write").length).toBeGreaterThan(1);
  await expect
    .poll(() => received.filter(({ service, traceId }) => service === "admin" && traceId === workflow?.traceId).map(({ name }) => name), {
      timeout: 20_000,
    })
    .toContain("CreateExecution");
}, 120_000);
