import { expect, test } from "vitest";
import { RestError } from "./rest-error.js";
import { type LiveState, reconnectDelayMs, resumeStream } from "./resume.js";

test("delays double up to 15 s, and are shortened at random by up to half", () => {
  expect([0, 1, 2, 3, 4, 50].map((failures) => reconnectDelayMs(failures, () => 0))).toEqual([1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
  expect(reconnectDelayMs(0, () => 0.999)).toBeCloseTo(500.5);
});

/** Streams numbers from the cursor on; each stream breaks with its own error, the last one ends. */
function breaking(errors: readonly (Error | "at once")[]) {
  const cursors: string[] = [];
  async function* open(cursor: string) {
    cursors.push(cursor);
    const next = Number(cursor) + 1;
    const error = errors[cursors.length - 1];
    if (error === "at once") throw new RestError(14, "away", 0);
    yield { message: next, cursor: String(next) };
    if (error !== undefined) throw error;
  }
  return { cursors, open };
}

async function run(errors: readonly (Error | "at once")[], controller = new AbortController()) {
  const { cursors, open } = breaking(errors);
  const [seen, states, delays]: [number[], LiveState[], number[]] = [[], [], []];
  let now = 0;
  const stream = resumeStream({
    open,
    signal: controller.signal,
    onState: (state) => states.push(state),
    now: () => (now += 1),
    random: () => 0,
    sleep: (ms, signal) => {
      delays.push(ms);
      signal.throwIfAborted();
      return Promise.resolve();
    },
  });
  const ended = (async () => {
    for await (const message of stream) seen.push(message);
  })();
  await ended.catch(() => undefined);
  return { ended, seen, states, delays, cursors };
}

test("a stream resumes after its last cursor, and says since when its data are old", async () => {
  const { ended, seen, states, delays, cursors } = await run([new RestError(14, "broken", 200), "at once", "at once"]);
  await ended;
  expect([seen, cursors, delays]).toEqual([
    [1, 2],
    ["", "1", "1", "1"],
    [1_000, 2_000, 4_000],
  ]);
  expect(states.map(({ kind }) => kind)).toEqual(["live", "reconnecting", "reconnecting", "reconnecting", "live"]);
  expect(new Set(states.flatMap((state) => (state.kind === "live" ? [] : [state.since]))).size).toBe(1);
});

test("permanent errors are thrown", async () => {
  const { ended, seen } = await run([new RestError(7, "no", 403)]);
  await expect(ended).rejects.toMatchObject({ code: 7 });
  expect(seen).toEqual([1]);
});

test("an aborted stream is not resumed", async () => {
  const controller = new AbortController();
  controller.abort(new Error("left the page"));
  const { ended, delays } = await run([new RestError(14, "broken", 200)], controller);
  await expect(ended).rejects.toThrow("left the page");
  expect(delays).toEqual([]);
});
