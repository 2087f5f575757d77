import { expect, test, vi } from "vitest";
import { encodeBundle } from "./bundle.js";
import { type Delivered, toBusMessages } from "./delivered.js";

function bundle(names: readonly string[]) {
  const ack = vi.fn();
  const nak = vi.fn();
  const encoded = encodeBundle(names.map((name) => Buffer.from(name)));
  const message: Delivered = { subject: "x", info: { deliveryCount: 3 }, ack, nak, ...encoded };
  return { ack, nak, message, parts: toBusMessages(message) };
}

test("all is acknowledged once the last one is", () => {
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

test("one that is wanted again brings all, after the longest delay asked for", () => {
  const { ack, nak, parts } = bundle(["a", "b", "c"]);
  parts[0]?.nak(50);
  parts[1]?.nak(200);
  parts[2]?.ack();
  expect(ack).not.toHaveBeenCalled();
  expect(nak).toHaveBeenCalledExactlyOnceWith(200);
});

test("a bundle that cannot be read is one message, for whoever takes it to refuse", () => {
  const { message } = bundle(["a", "b"]);
  expect(toBusMessages({ ...message, data: message.data.subarray(0, 3) })).toHaveLength(1);
});
