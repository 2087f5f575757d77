import { expect, test } from "vitest";
import { watchBus } from "./bus-watch.js";

/** Runs one check per entry of `answers`; `full` lists the checks that find a full disk. */
async function looks(answers: readonly (readonly string[])[], full: readonly number[] = []) {
  const restarts: string[] = [];
  const end = new AbortController();
  let look = -1;
  await watchBus(
    {
      ports: [0, 1],
      obstacle: () => (full.includes(look) ? "the disk is full" : undefined),
      restart: async (why) => void restarts.push(`${look} ${why}`),
      delay: async (ms) => {
        if (ms > 10_000) return;
        if (++look === answers.length) end.abort();
      },
      probe: async (port) => {
        const text = answers[look]?.[port];
        if (text === undefined) throw new Error("no listener");
        return { text };
      },
    },
    end.signal,
  );
  return restarts;
}

const STUCK = "the message bus does not store messages (flyte.task): no answer";

test("a bus that stores nothing is restarted after two consecutive checks", async () => {
  expect(
    await looks([
      ["ok", STUCK],
      ["ok", STUCK],
      ["ok", "ok"],
      ["ok", "ok"],
    ]),
  ).toEqual([`1 ${STUCK}`]);
});

test("a single check, and services with other problems, do not restart the bus", async () => {
  expect(
    await looks([["ok", STUCK], ["ok", "ok"], [STUCK], [], ["the database is unavailable", "the message bus is not connected"]]),
  ).toEqual([]);
});

test("the bus is not restarted while the disk is full", async () => {
  expect(await looks([[STUCK], [STUCK], [STUCK], [STUCK], [STUCK]], [0, 1, 2, 3])).toEqual([`4 ${STUCK}`]);
});
