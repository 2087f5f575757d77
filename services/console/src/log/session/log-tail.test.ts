import { create, toBinary } from "@bufbuild/protobuf";
import { RestError } from "@flyte-ts/client/browser";
import { FollowLogResponseSchema } from "@flyte-ts/idl/flytets/admin/v1/live_pb";
import { expect, test } from "vitest";
import { LineStore } from "../text/line-store.js";
import { LogTail, LONG_LINES } from "./log-tail.js";
import type { LogLine } from "./protocol.js";

const utf8 = new TextEncoder();
const textOf = (at: number): string => `step ${at}`;
/** Lines of a log that is one second long each. */
const messageOf = (from: number, to: number, hasTimes = true): Uint8Array => {
  const lines = Array.from({ length: to - from }, (_, at) => ({
    text: textOf(from + at),
    time: hasTimes ? new Date((from + at) * 1_000).toISOString() : "",
  }));
  return toBinary(FollowLogResponseSchema, create(FollowLogResponseSchema, { lines }));
};

/** A log of which lines are read in turn, and its tail as the page is told of it. */
function start(answer: () => AsyncIterable<Uint8Array> = tailOf(messageOf(99_998, 100_000))) {
  const told: (readonly LogLine[] | undefined)[] = [];
  const state = { at: 0, asked: 0 };
  const store = new LineStore();
  const tail = new LogTail({ post: (lines) => told.push(lines), now: () => state.at });
  const read = async (to: number): Promise<void> => {
    for (let at = store.length; at < to; at++) store.appendLine(utf8.encode(textOf(at)), at * 1_000);
    tail.check(store, () => {
      state.asked++;
      return answer();
    });
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { told, state, tail, read };
}

const tailOf = (...messages: readonly Uint8Array[]) =>
  async function* (): AsyncGenerator<Uint8Array> {
    yield* messages;
  };

test("the end of a long log is shown until it is read so far", async () => {
  const { told, state, read } = start();
  await read(LONG_LINES - 1);
  expect([state.asked, told]).toEqual([0, []]);
  await read(LONG_LINES);
  expect(told).toEqual([[99_998, 99_999].map((at) => ({ text: textOf(at), timeMs: at * 1_000 }))]);
  await read(99_999);
  expect(told).toHaveLength(1);
  await read(100_000);
  await read(100_001);
  expect([state.asked, told.slice(1)]).toEqual([1, [undefined]]);
});

test("a log that grows long while it is followed does not ask for its end", async () => {
  const { state, read } = start();
  await read(1);
  state.at = 10_000;
  await read(LONG_LINES);
  expect(state.asked).toBe(0);
});

test("an end that comes late, has no times or fails is not shown", async () => {
  const failing = async function* (): AsyncGenerator<Uint8Array> {
    yield messageOf(99_998, 100_000);
    throw new RestError(14, "away", 503);
  };
  for (const answer of [tailOf(messageOf(9, 10)), tailOf(messageOf(99_998, 100_000, false)), tailOf(), failing]) {
    const { told, state, read } = start(answer);
    await read(LONG_LINES);
    expect([state.asked, told]).toEqual([1, []]);
  }
});

test("the end of a log that has ended is gone, also when it comes later", async () => {
  const { told, tail, read } = start();
  await read(LONG_LINES);
  tail.end();
  expect(told.at(-1)).toBeUndefined();
  const late = start();
  const reading = late.read(LONG_LINES);
  late.tail.end();
  await reading;
  expect(late.told).toEqual([]);
});
