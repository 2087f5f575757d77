import { expect, test, vi } from "vitest";
import { encodeBatch } from "../publish/batch.js";
import { type Delivery, type StoreDeadLetter, unpackDelivery } from "./unpack-delivery.js";
import { UnpackError } from "../publish/compression.js";

function bundle(names: readonly string[]) {
  const ack = vi.fn();
  const nak = vi.fn();
  const encoded = encodeBatch(names.map((name) => Buffer.from(name)));
  const message: Delivery = { subject: "x", seq: 7, info: { deliveryCount: 3 }, ack, nak, ...encoded };
  const aside: string[] = [];
  const putAside: StoreDeadLetter = (data, index, reason) => {
    aside.push(`${Buffer.from(data).toString()} ${index} ${reason}`);
    return reason === "fails" ? Promise.reject(new Error(reason)) : Promise.resolve();
  };
  return { ack, nak, message, aside, putAside, parts: unpackDelivery(message, putAside, (settled) => settled.ack()) };
}

test("a delivery is acknowledged when its last message is", () => {
  const { ack, nak, parts } = bundle(["a", "b", "c"]);
  expect(parts.map(({ data, deliveries }) => `${Buffer.from(data).toString()}${deliveries}`)).toEqual(["a3", "b3", "c3"]);
  parts[0]?.ack();
  parts[0]?.ack();
  parts[2]?.ack();
  expect(ack).not.toHaveBeenCalled();
  parts[1]?.ack();
  expect(ack).toHaveBeenCalledOnce();
  expect(nak).not.toHaveBeenCalled();
});

test("a nak of one message redelivers the batch after the longest requested delay", () => {
  const { ack, nak, parts } = bundle(["a", "b", "c"]);
  parts[0]?.nak(50);
  parts[1]?.nak(200);
  parts[2]?.ack();
  expect(ack).not.toHaveBeenCalled();
  expect(nak).toHaveBeenCalledExactlyOnceWith(200);
});

test("a discarded message is settled when its dead letter is stored, and redelivered otherwise", async () => {
  const { ack, nak, aside, parts } = bundle(["a", "b"]);
  parts[0]?.discard("unreadable");
  parts[1]?.ack();
  expect(ack).not.toHaveBeenCalled();
  await vi.waitFor(() => expect(ack).toHaveBeenCalledOnce());
  expect(aside).toEqual(["a 0 unreadable"]);
  const other = bundle(["a"]);
  other.parts[0]?.discard("fails");
  await vi.waitFor(() => expect(other.nak).toHaveBeenCalledOnce());
  expect([nak.mock.calls, other.ack.mock.calls]).toEqual([[], []]);
});

test.each([
  ["is truncated", (data: Uint8Array) => data.subarray(0, 3)],
  ["holds nothing", () => new Uint8Array()],
  ["holds more messages than a publisher combines", () => new Uint8Array(4 * 1_025)],
])("a bundle that %s is not unpacked", (_, change) => {
  const { message, putAside } = bundle(["a", "b"]);
  expect(() => unpackDelivery({ ...message, data: change(message.data) }, putAside, (settled) => settled.ack())).toThrow(UnpackError);
});
