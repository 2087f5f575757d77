import { expect, test } from "vitest";
import { BlobFailure } from "../blob/blob-access.js";
import { classify, ignoresOutputs, RunFailure } from "./failure.js";
import { SourceMapper } from "./source-mapper.js";

const sources = new SourceMapper("file:///bundle/");
const classOf = (thrown: unknown, terminated = false) => classify(thrown, { sources, terminated });

class Recoverable extends Error {
  override readonly name = "RecoverableError";
}

/** Class of the same name in another copy of this package. */
class OtherBlobFailure extends Error {
  override readonly name = "BlobFailure";
  readonly transient = false;
}

test.each([
  ["an error", new TypeError("x"), { code: "USER:TypeError", recoverable: false, origin: "user" }],
  ["a recoverable error", new Recoverable("x"), { code: "USER:RecoverableError", recoverable: true, origin: "user" }],
  [
    "a recoverable error among the causes",
    new Error("x", { cause: new Error("y", { cause: new Recoverable("z") }) }),
    { code: "USER:RecoverableError", recoverable: true, origin: "user" },
  ],
  [
    "a blob that cannot be read",
    new BlobFailure("s3://b/k", "gone", { transient: true }),
    { code: "SYSTEM", recoverable: true, origin: "system" },
  ],
  [
    "a final blob failure of another copy of this package",
    new OtherBlobFailure("s3://b/k: S3 answers 403"),
    { code: "SYSTEM", recoverable: true, origin: "system" },
  ],
  ["a failure of the runtime", new RunFailure("no inputs"), { code: "SYSTEM", recoverable: true, origin: "system" }],
  ["a thrown text", "a text", { code: "USER:NotAnError", recoverable: false, origin: "user" }],
  ["nothing", undefined, { code: "USER:NotAnError", recoverable: false, origin: "user" }],
])("%s has its class", (_name, thrown, expected) => {
  expect(classOf(thrown)).toMatchObject(expected);
});

test("a task whose pod is terminated fails with a system error, whatever it throws", () => {
  expect(classOf(new TypeError("aborted"), true)).toMatchObject({
    code: "SYSTEM",
    recoverable: true,
    message: expect.stringContaining("SIGTERM"),
  });
});

test("causes and members are part of the message", () => {
  const error = new AggregateError([new RangeError("first"), "second"], "both failed", { cause: new Error("because") });
  const { message } = classOf(error);
  expect(message).toContain("[0] RangeError: first");
  expect(message).toContain("[1] second");
  expect(message).toContain("Caused by: Error: because");
});

test("a circle of causes ends, and a long message keeps begin and end", () => {
  const error: Error & { cause?: unknown } = new Error(`begin ${"x".repeat(100_000)} end`);
  error.cause = error;
  const { message } = classOf(error);
  expect(message.length).toBeLessThan(40_000);
  expect(message).toMatch(/^Error: begin x+\n… \d+ characters left out …/);
});

test("a task may leave its outputs to others", () => {
  class IgnoreOutputs extends Error {
    override readonly name = "IgnoreOutputs";
  }
  expect([ignoresOutputs(new IgnoreOutputs()), ignoresOutputs(new Error("x"))]).toEqual([true, false]);
});
