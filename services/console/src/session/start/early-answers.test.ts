import { expect, test } from "vitest";
import { createEarlyAnswers } from "./early-answers.js";

const GET = { method: "GET", headers: { accept: "application/json" } };

/** Early answers whose calls are counted; `at` is the time. */
function start(send: (input: string) => Promise<Response> = async (input) => new Response(input)) {
  const sent: string[] = [];
  const state = { at: 0 };
  const early = createEarlyAnswers({
    send: ((input: string) => {
      sent.push(input);
      return send(input);
    }) as typeof fetch,
    nowMs: () => state.at,
  });
  return { early, sent, state };
}

test("an equal call takes the answer once; the next is sent", async () => {
  const { early, sent } = start();
  void early.begin("/a", GET);
  expect(await (await early.fetch("/a", GET)).text()).toBe("/a");
  expect(sent).toEqual(["/a"]);
  await early.fetch("/a", GET);
  expect(sent).toEqual(["/a", "/a"]);
});

test.each([
  ["/b", GET],
  ["/a", { ...GET, headers: { accept: "text/plain" } }],
  ["/a", { ...GET, method: "DELETE" }],
] as const)("another call, %s %j, is sent", async (input, init) => {
  const { early, sent } = start();
  void early.begin("/a", GET);
  await early.fetch(input, init);
  expect(sent).toEqual(["/a", input]);
});

test("an old answer is not shown", async () => {
  const { early, sent, state } = start();
  void early.begin("/a", GET);
  state.at = 10_000;
  await early.fetch("/a", GET);
  expect(sent).toEqual(["/a", "/a"]);
});

test("the failure of an early call is that of the call which takes it", async () => {
  const { early } = start(() => Promise.reject(new TypeError("away")));
  void early.begin("/a", GET);
  await expect(early.fetch("/a", GET)).rejects.toThrow("away");
});
