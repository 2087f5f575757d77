import { Code } from "@flyte-ts/rpc";
import { expect, test } from "vitest";
import { adminConfigSchema } from "../../config.js";
import { checkTaskType } from "./whitelist.js";

const taskTypeWhitelist = { spark: [{ project: "science" }, { project: "etl", domain: "production" }], bash: [{}], never: [] };
const config = adminConfigSchema.parse({ registration: { taskTypeWhitelist } });
const check =
  (type: string, project: string, domain = "development") =>
  () =>
    checkTaskType(type, { project, domain }, config);
const refused = expect.objectContaining({
  code: Code.INVALID_ARGUMENT,
  message: expect.stringContaining("task type must be whitelisted before use") as string,
}) as Error;

test("a listed task type may be registered only in the listed places", () => {
  expect(check("spark", "science")).not.toThrow();
  expect(check("spark", "etl", "production")).not.toThrow();
  expect(check("bash", "anything")).not.toThrow();
  expect(check("spark", "etl")).toThrow(refused);
  expect(check("spark", "flytesnacks")).toThrow(refused);
  expect(check("never", "science")).toThrow(refused);
});

test("an unlisted task type may be registered everywhere", () => {
  expect(check("python-task", "flytesnacks")).not.toThrow();
  expect(check("constructor", "flytesnacks")).not.toThrow();
});
