import { expect, test } from "vitest";
import { LineStore } from "../text/line-store.js";
import { SearchLoop } from "./log-search-loop.js";
import type { SearchState } from "./protocol.js";

/** A loop over a store, with a clock that only `pass` moves. */
function start() {
  const store = new LineStore();
  const posted: (SearchState | undefined)[] = [];
  let [nowMs, waiting]: [number, readonly { readonly atMs: number; readonly run: () => void }[]] = [0, []];
  const loop = new SearchLoop({
    store: () => store,
    post: (state) => posted.push(state),
    now: () => nowMs,
    schedule: (run, delayMs) => {
      waiting = [...waiting, { atMs: nowMs + delayMs, run }];
    },
  });
  const pass = (ms: number): void => {
    const untilMs = nowMs + ms;
    for (let next = waiting.find(({ atMs }) => atMs <= untilMs); next !== undefined; next = waiting.find(({ atMs }) => atMs <= untilMs)) {
      const { atMs, run } = next;
      waiting = waiting.filter((each) => each !== next);
      nowMs = Math.max(nowMs, atMs);
      run();
    }
    nowMs = untilMs;
  };
  const append = (text: string): void => store.appendLine(new TextEncoder().encode(text), 0);
  return { loop, posted, pass, append };
}

test("a search answers as soon as all lines are searched, and tells of further lines ten times a second", () => {
  const { loop, posted, pass, append } = start();
  append("lost");
  loop.begin({ text: "lost", isRegex: false });
  pass(0);
  expect(posted).toMatchObject([{ count: 1, isDone: true }]);
  for (let line = 0; line < 100; line++) {
    append("lost again");
    loop.resume();
    pass(5);
  }
  pass(100);
  expect(posted.length).toBeGreaterThan(2);
  expect(posted.length).toBeLessThanOrEqual(8);
  expect(posted.at(-1)).toMatchObject({ count: 101, isDone: true });
});

test("a search that begins after another answers at once, and nothing tells of the one before", () => {
  const { loop, posted, pass, append } = start();
  append("first and second");
  loop.begin({ text: "first", isRegex: false });
  pass(0);
  append("more");
  loop.resume();
  loop.begin({ text: "second", isRegex: false });
  pass(0);
  loop.begin(undefined);
  pass(1_000);
  expect(posted.map((state) => state?.count)).toEqual([1, 1, undefined]);
});
