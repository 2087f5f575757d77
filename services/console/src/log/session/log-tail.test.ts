import { expect, test } from "vitest";
import { LineStore } from "../text/line-store.js";
import { LogTail, LONG_LINES } from "./log-tail.js";
import type { LogLine } from "./protocol.js";

const utf8 = new TextEncoder();
const textOf = (at: number): string => `step ${at}`;

/** A log with a line each second, read page by page, and the tail that the page receives. */
function start({ from, to, hasTimes = true }: { readonly from: number; readonly to: number; readonly hasTimes?: boolean }) {
  const told: (readonly LogLine[] | undefined)[] = [];
  const store = new LineStore();
  const tail = new LogTail((lines) => told.push(lines));
  for (let at = from; at < to; at++) tail.add(utf8.encode(textOf(at)), hasTimes ? at * 1_000 : Number.NaN);
  const read = (end: number): void => {
    for (let at = store.length; at < end; at++) store.appendLine(utf8.encode(textOf(at)), at * 1_000);
    tail.check(store);
  };
  return { told, tail, read };
}

test("the end of a long log is shown until it is read so far", () => {
  const { told, read } = start({ from: 99_998, to: 100_000 });
  read(0);
  read(LONG_LINES - 1);
  expect(told).toEqual([]);
  read(LONG_LINES);
  expect(told).toEqual([[99_998, 99_999].map((at) => ({ text: textOf(at), timeMs: at * 1_000 }))]);
  read(99_999);
  expect(told).toHaveLength(1);
  read(100_000);
  read(100_001);
  expect(told.slice(1)).toEqual([undefined]);
});

test.each([
  ["has been read", { from: 9, to: 10 }],
  ["has no times", { from: 99_998, to: 100_000, hasTimes: false }],
  ["is empty", { from: 0, to: 0 }],
])("an end that %s is not shown", (_, lines) => {
  const { told, read } = start(lines);
  read(LONG_LINES);
  expect(told).toEqual([]);
});

test("the end of a log that has ended is gone", () => {
  const { told, tail, read } = start({ from: 99_998, to: 100_000 });
  read(LONG_LINES);
  tail.end();
  read(LONG_LINES + 1);
  expect(told.slice(1)).toEqual([undefined]);
});
