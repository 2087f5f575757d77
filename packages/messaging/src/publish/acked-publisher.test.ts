import type { Msg, NatsConnection } from "@nats-io/transport-node";
import { createLogger } from "@flyte-ts/telemetry";
import { expect, test } from "vitest";
import { StreamHealth } from "../server/stream-health.js";
import { NoStreamError, AckedPublisher } from "./acked-publisher.js";

/** The parts of a reply that the publisher reads. */
type Reply = Pick<Msg, "subject" | "data" | "json">;

/** A publisher whose server answers each message with these bytes. */
function answering(answer: string) {
  const clock = { now: 0 };
  const health = new StreamHealth(createLogger({ service: "test", level: "silent" }), () => clock.now);
  let tell: (error: null, message: Reply) => void = () => undefined;
  const connection = {
    subscribe: (_: string, { callback }: { callback: typeof tell }) => {
      tell = callback;
    },
    publish: (_: string, __: Uint8Array, { reply }: { reply: string }) => {
      const data = Buffer.from(answer);
      queueMicrotask(() => tell(null, { subject: reply, data, json: <T>() => JSON.parse(answer) as T }));
    },
    isClosed: () => false,
  } as unknown as NatsConnection;
  const publisher = new AckedPublisher(connection, { timeoutMs: 1_000, inbox: "_INBOX.test", health });
  const publish = () => publisher.publish({ subject: "flyte.task.echo.1", data: new Uint8Array() });
  return { publish, health, clock };
}

test("a publish resolves when the stream returns a sequence", async () => {
  const { publish, health } = answering('{"stream":"TASKS","seq":1}');
  await expect(publish()).resolves.toBeUndefined();
  expect(health.unhealthyReason()).toBeUndefined();
});

test.each([
  ["the number 0, as a stream whose disk was full gives", '{"stream":"TASKS","seq":0}', "acknowledged the message without storing it"],
  ["no number", '{"stream":"TASKS"}', "acknowledged the message without storing it"],
  ["no stream", '{"seq":4}', "the message bus acknowledged the message without a stream"],
  ["null", "null", "the message bus acknowledged the message without a stream"],
  ["no JSON", "+OK", "malformed acknowledgement"],
  [
    "an error",
    '{"stream":"TASKS","error":{"code":503,"err_code":10077,"description":"no space left on device"}}',
    "no space left on device",
  ],
])("a response with %s is a failure, and counts as a storage failure", async (_, answer, message) => {
  const { publish, health, clock } = answering(answer);
  await expect(publish()).rejects.toThrow(message);
  clock.now = 4_000;
  await expect(publish()).rejects.toThrow(message);
  expect(health.unhealthyReason()).toMatch(/^the message bus does not store messages \(flyte\.task\): /);
});

test("an empty reply means that no stream has the subject, which is not a storage failure", async () => {
  const { publish, health, clock } = answering("");
  await expect(publish()).rejects.toThrow(NoStreamError);
  clock.now = 4_000;
  await expect(publish()).rejects.toThrow(NoStreamError);
  expect(health.unhealthyReason()).toBeUndefined();
});
