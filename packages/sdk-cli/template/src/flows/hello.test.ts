import assert from "node:assert/strict";
import { test } from "node:test";
import { compile, mock, runLocal, testContext } from "@flyte-ts/sdk/testing";
import { count, greet, hello } from "./hello.ts";

test("the function of a task", async () => {
  assert.equal(await count.fn({ text: "abc" }, testContext()), 3);
});

test("the workflow, in this process", async () => {
  const { outputs } = await runLocal(hello, { name: "you" });
  assert.deepEqual(outputs, { greeting: "Hello, you!", length: 11 });
});

test("the workflow with another greeting", async () => {
  const { outputs } = await runLocal(hello, {}, { mocks: [mock(greet, ({ name }) => `Hi ${name}`)] });
  assert.equal(outputs.length, 8);
});

test("the compiler of the server accepts the workflow", () => {
  assert.deepEqual(compile(hello).errors, []);
});
