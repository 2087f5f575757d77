import { JetStreamApiError, type JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import type { Logger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { Streams } from "./streams.js";

const SPEC = { name: "S", subjects: ["s.>"], retention: "workqueue" } as const;
const refusal = (err_code: number, description: string) => new JetStreamApiError({ code: 400, err_code, description });

/** Streams on a server that answers creations with these errors, then with success. */
function streamsAnswering(...answers: readonly Error[]) {
  const left = [...answers];
  const warnings: unknown[] = [];
  const add = async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return { did_create: true };
  };
  const streams = new Streams({
    connection: { isClosed: () => false } as NatsConnection,
    manager: { streams: { add } } as unknown as JetStreamManager,
    logger: { warn: (facts: unknown) => warnings.push(facts) } as unknown as Logger,
    createsStreams: true,
    replicas: 3,
  });
  return { streams, left, warnings };
}

test("a stream waits for the servers of its copies, with one line in the log", async () => {
  const offline = refusal(10005, "no suitable peers for placement, peer offline");
  const { streams, left, warnings } = streamsAnswering(offline, offline);
  await streams.ensure(SPEC);
  expect(left).toEqual([]);
  expect(warnings).toEqual([{ stream: "S", replicas: 3, error: expect.stringContaining("no suitable peers") }]);
});

test("an invalid stream is refused at once", async () => {
  const { streams, left } = streamsAnswering(refusal(10052, "invalid subject"), refusal(10052, "invalid subject"));
  await expect(streams.ensure(SPEC)).rejects.toThrow("invalid subject");
  expect(left).toHaveLength(1);
});
