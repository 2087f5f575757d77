import { mkdirSync } from "node:fs";
import { connect } from "node:net";
import { expect, test } from "vitest";
import { Code, RpcError } from "@flyte-ts/client";
import { connectionFailure, describeError } from "./describe-error.js";
import { StackError } from "@flyte-ts/local-stack";

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error("no error");
}

test("an error with a message for users prints the message", () => {
  expect(describeError(new StackError("port 1 is in use"))).toBe("port 1 is in use");
});

test("a system error prints one line with a remedy", async () => {
  const file = await errorOf(() => mkdirSync("/dev/null/below"));
  expect(describeError(file)).toBe("ENOTDIR: not a directory, mkdir '/dev/null/below': a part of that path is a file");
  const refused = await errorOf(() => new Promise((_, reject) => connect({ port: 1, host: "127.0.0.1" }).once("error", reject)));
  expect(describeError(refused)).toBe("connect ECONNREFUSED 127.0.0.1:1: start what is to listen there, or name another address");
  expect(describeError(new AggregateError([refused]))).toBe(describeError(refused));
});

test("a failed gRPC connection prints its reason and a remedy", () => {
  const message = "No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:1. Resolution note: ";
  const text = "connect ECONNREFUSED 127.0.0.1:1: start what is to listen there, or name another address";
  expect(describeError(new RpcError(Code.UNAVAILABLE, message))).toBe(text);
  expect(connectionFailure(`14 UNAVAILABLE: ${message}`.trim())).toBe("connect ECONNREFUSED 127.0.0.1:1");
  expect(connectionFailure("the data plane is down")).toBeUndefined();
});

test("an unexpected error prints its stack", () => {
  expect(describeError(new TypeError("x is not a function"))).toMatch(/^TypeError: x is not a function\n\s+at /);
  expect(describeError("text")).toBe("text");
});
