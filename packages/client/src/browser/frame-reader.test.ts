import { create, toBinary } from "@bufbuild/protobuf";
import { StreamFramesSchema } from "@flyte-ts/idl/flytets/admin/v1/stream_frames_pb";
import { expect, test } from "vitest";
import { readFrames } from "./frame-reader.js";

const bytes = (...values: number[]) => new Uint8Array(values);
const messages = [bytes(1), bytes(), new Uint8Array(300).fill(7), new Uint8Array(20_000).fill(9)];
const encode = (end: object | undefined) =>
  toBinary(StreamFramesSchema, create(StreamFramesSchema, { messages, keepalives: [bytes()], ...(end && { end }) }));

/** Streams bytes in pieces of a size. */
function streamed(body: Uint8Array, size: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at >= body.length) controller.close();
      else controller.enqueue(body.slice(at, (at += size)));
    },
  });
}

async function all(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  const found: Uint8Array[] = [];
  for await (const message of stream) found.push(message);
  return found;
}

test.each([1, 2, 7, 301, 100_000])("messages are those that protobuf-es encodes, in pieces of %i bytes", async (size) => {
  expect(await all(readFrames(streamed(encode({}), size)))).toEqual(messages);
});

test.each([1, 100_000])("a failed stream throws its status after its messages, in pieces of %i bytes", async (size) => {
  const seen: Uint8Array[] = [];
  const reading = async () => {
    for await (const message of readFrames(streamed(encode({ code: 14, message: "later", details: [{ typeUrl: "t" }] }), size)))
      seen.push(message);
  };
  await expect(reading()).rejects.toMatchObject({ name: "RestError", code: 14, message: "later", isTransient: true });
  expect(seen).toEqual(messages);
});

test("a stream without an end was cut off", async () => {
  await expect(all(readFrames(streamed(encode(undefined), 50)))).rejects.toMatchObject({ code: 14, message: "the stream was cut off" });
  await expect(all(readFrames(streamed(encode({}).subarray(0, 5), 50)))).rejects.toMatchObject({ code: 14 });
});

test.each([
  ["a length without an end", bytes(0x0a, 255, 255, 255, 255, 255, 255, 1)],
  ["a length above the maximum", bytes(0x0a, 255, 255, 255, 255, 15, 0)],
])("%s is refused", async (_, body) => {
  await expect(all(readFrames(streamed(body, 50)))).rejects.toMatchObject({ code: 14 });
});

test("a consumer that stops early cancels the stream", async () => {
  const cancelled = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(bytes(0x0a, 0)),
    cancel: () => cancelled.resolve(),
  });
  for await (const message of readFrames(body)) {
    expect(message).toHaveLength(0);
    break;
  }
  await cancelled.promise;
});
