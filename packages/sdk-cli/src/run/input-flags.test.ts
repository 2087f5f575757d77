import { expect, test } from "vitest";
import { parseSignals, splitFlags } from "./input-flags.js";

const OWN = new Map([
  ["remote", false],
  ["endpoint", true],
]);

test("flags of the command are distinguished from inputs of the entity", () => {
  const argv = ["--remote", "flow.ts", "train", "--endpoint", "host:1", "--hyper", '{"C":0.4}', "--name=a text", "--count", "3"];
  expect(splitFlags(argv, OWN)).toEqual({
    own: ["--remote", "flow.ts", "train", "--endpoint", "host:1"],
    inputs: { hyper: { C: 0.4 }, name: "a text", count: 3 },
  });
});

test("an input without a value is named", () => {
  expect(() => splitFlags(["flow.ts", "train", "--count"], OWN)).toThrow("the input --count has no value");
});

test("answers of gates are JSON or texts", () => {
  expect(parseSignals(["threshold=0.5", "release=true", "why=because a=b"])).toEqual({ threshold: 0.5, release: true, why: "because a=b" });
  expect(() => parseSignals(["threshold"])).toThrow("write NAME=VALUE");
});
