import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { decodeBatch } from "./batch.js";
import { BatchPublisher } from "./batch-publisher.js";

/**
 * A server that acknowledges when the test tells it to; messages of one bundle are recorded
 * together as text.
 */
function slowServer(most = 128) {
  const came: string[][] = [];
  const store: (() => void)[] = [];
  const bus = new BatchPublisher(most, ({ encode }) => {
    const { data, headers } = encode();
    const parts = headers === undefined ? [data] : (decodeBatch(data) ?? []);
    came.push(parts.map((part) => Buffer.from(part).toString()));
    return new Promise((resolve) => store.push(resolve));
  });
  const publish = (text: string, subject = "s") => bus.publish({ subject, data: Buffer.from(text), headers: undefined });
  return { came, store, publish };
}

it("sends messages of one call stack as one batch, at once while nothing is in flight", async () => {
  const { came, publish } = slowServer();
  void publish("a");
  void publish("b");
  void publish("c", "other");
  await Promise.resolve();
  expect(came).toEqual([["a", "b"], ["c"]]);
});

it("sends messages of one turn of the event loop as one batch while others are in flight", async () => {
  const { came, store, publish } = slowServer();
  const first = publish("a");
  await Promise.resolve();
  void publish("b");
  await Promise.resolve();
  void publish("c");
  await Promise.resolve();
  expect(came).toEqual([["a"]]);
  await turn();
  expect(came).toEqual([["a"], ["b", "c"]]);
  store[0]?.();
  await first;
});

it("gathers messages of two turns of the event loop while many batches are in flight", async () => {
  const { came, publish } = slowServer();
  for (let index = 0; index < 8; index++) void publish("first", `s${index}`);
  await Promise.resolve();
  expect(came).toHaveLength(8);
  void publish("a");
  await turn();
  void publish("b");
  expect(came).toHaveLength(8);
  await turn();
  await turn();
  expect(came.slice(8)).toEqual([["a", "b"]]);
});

it("sends large batches after one turn of the event loop, and small ones with them", async () => {
  const { came, publish } = slowServer();
  for (let index = 0; index < 8; index++) void publish("first", `s${index}`);
  await Promise.resolve();
  void publish("small", "other");
  for (let index = 0; index < 20; index++) void publish("large");
  await turn();
  expect(came.slice(8)).toEqual([["small"], Array.from({ length: 20 }, () => "large")]);
});

it("sends the queued messages as one batch when capacity is free", async () => {
  const { came, store, publish } = slowServer(1);
  void publish("a");
  await Promise.resolve();
  for (const text of ["b", "c", "d"]) {
    void publish(text);
    await turn();
  }
  expect(came).toEqual([["a"]]);
  store[0]?.();
  await turn();
  expect(came).toEqual([["a"], ["b", "c", "d"]]);
});
