import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { OtlpExporter } from "./otlp-exporter.js";
import { spanIdOf, traceIdOf } from "./span.js";

const stops: (() => void)[] = [];
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/** An OTLP/HTTP receiver that answers with the given statuses, then with 200. */
async function receiver(statuses: number[] = []) {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on("end", () => {
      const status = statuses.shift() ?? 200;
      if (status === 200 && request.url === "/v1/traces") bodies.push(JSON.parse(text));
      response.writeHead(status).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close());
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, bodies };
}

const traceId = traceIdOf({ project: "p", domain: "d", name: "e" });
const span = (name: string) => ({
  traceId,
  spanId: spanIdOf(traceId, name),
  name,
  start: 1_700_000_000_000.5,
  end: 1_700_000_000_002,
  attributes: { node: "n0", attempt: 1, share: 0.5, ok: true },
});

test("spans are sent as OTLP JSON, also to a receiver that fails at first", async () => {
  const { endpoint, bodies } = await receiver([503]);
  const exporter = new OtlpExporter({ endpoint, service: "propeller", intervalMs: 60_000 });
  exporter.record({ ...span("a"), failure: "broke" });
  await exporter.close();
  expect(bodies).toEqual([
    {
      resourceSpans: [
        {
          resource: { attributes: [{ key: "service.name", value: { stringValue: "propeller" } }] },
          scopeSpans: [
            {
              scope: { name: "flyte-ts" },
              spans: [
                {
                  traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
                  spanId: expect.stringMatching(/^[0-9a-f]{16}$/),
                  name: "a",
                  kind: 1,
                  startTimeUnixNano: "1700000000000500000",
                  endTimeUnixNano: "1700000000002000000",
                  attributes: [
                    { key: "node", value: { stringValue: "n0" } },
                    { key: "attempt", value: { intValue: "1" } },
                    { key: "share", value: { doubleValue: 0.5 } },
                    { key: "ok", value: { boolValue: true } },
                  ],
                  status: { code: 2, message: "broke" },
                },
              ],
            },
          ],
        },
      ],
    },
  ]);
});

test("spans are dropped when the receiver refuses them or the buffer is full", async () => {
  const { endpoint, bodies } = await receiver([400]);
  let dropped = 0;
  const exporter = new OtlpExporter({
    endpoint,
    service: "s",
    intervalMs: 60_000,
    maxQueueSize: 3,
    onDropped: (spans) => {
      dropped += spans;
    },
  });
  for (const name of ["a", "b", "c", "d"]) exporter.record(span(name));
  expect(dropped).toBe(1);
  await exporter.close();
  expect(dropped).toBe(4);
  expect(bodies).toEqual([]);
});

test("a receiver that does not answer delays a shutdown for a bounded time, and costs the spans", async () => {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stops.push(() => server.close().closeAllConnections());
  let dropped = 0;
  const exporter = new OtlpExporter({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    service: "propeller",
    intervalMs: 60_000,
    closeMs: 20,
    onDropped: (spans) => (dropped += spans),
  });
  for (let i = 0; i < 600; i++) exporter.record(span(`s${i}`));
  await exporter.close();
  expect(dropped).toBe(600);
});
