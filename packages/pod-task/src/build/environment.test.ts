import { create } from "@bufbuild/protobuf";
import { KeyValuePairSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { sampleRequest } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { podSettings } from "../settings.js";
import { flyteEnvironment, addServiceVariables } from "./environment.js";

test("containers get variables of the service under other names, and unset ones are omitted", () => {
  const { environment } = podSettings.parse({ environment: { env: { A: "1", B: "2" }, envFromService: { B: "OWN_B", C: "NONE" } } });
  expect(addServiceVariables(environment, { OWN_B: "3" }).env).toEqual({ A: "1", B: "3" });
});

test("the kubelet expands no variable in values of an execution, but in those of the installation", () => {
  const request = sampleRequest("python-task");
  if (request.id?.taskId === undefined) throw new Error("the sample names a task");
  request.id.taskId.name = "tasks.$(SECRET)";
  request.environment = [create(KeyValuePairSchema, { key: "MINE", value: "a$(SECRET)$$" })];
  const { environment } = podSettings.parse({ environment: { env: { HOME_URL: "http://$(HOST)" } } });
  const values = Object.fromEntries(flyteEnvironment(request, environment).map(({ name, value }) => [name, value]));
  expect(values).toMatchObject({
    FLYTE_INTERNAL_TASK_NAME: "tasks.$$(SECRET)",
    MINE: "a$$(SECRET)$$$$",
    HOME_URL: "http://$(HOST)",
  });
});
