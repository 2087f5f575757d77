import { expect, test } from "vitest";
import { createOutbox } from "./outbox.js";

test("messages of one step are sent together, with all buffers that they move", async () => {
  const sent: unknown[] = [];
  const post = createOutbox<string>((messages, moved) => sent.push([messages, moved]));
  const [first, second] = [new ArrayBuffer(1), new ArrayBuffer(2)];
  post("a", [first]);
  post("b", [second]);
  expect(sent).toEqual([]);
  await Promise.resolve();
  post("c", []);
  await Promise.resolve();
  expect(sent).toEqual([
    [
      ["a", "b"],
      [first, second],
    ],
    [["c"], []],
  ]);
});
