import { create, type JsonObject } from "@bufbuild/protobuf";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { MemoryStore, sampleRequest } from "@flyte-ts/task-plugin/harness";
import { expect, test } from "vitest";
import { integerLiteral } from "../literals.fixture.js";
import { taskTemplate } from "./task-template.js";

type Target = NonNullable<Parameters<typeof create<typeof TaskTemplateSchema>>[1]>["target"];

const inputs = create(LiteralMapSchema, { literals: { a: integerLiteral(3) } });
const build = async (target: Target) => {
  const store = new MemoryStore();
  const request = sampleRequest("toy", { template: create(TaskTemplateSchema, { type: "toy", ...(target && { target }) }) });
  return { request, store, built: await taskTemplate(request, inputs, store) };
};

test("placeholders in arguments are replaced, those in commands are not", async () => {
  const { request, built, store } = await build({
    case: "container",
    value: { command: ["run", "{{.input}}"], args: ["{{.input}}", "{{ .outputPrefix }}", "{{.inputs.a}}", "{{.taskTemplatePath}}"] },
  });
  const taskFile = request.inputUri.replace("inputs.pb", "task.pb");
  expect(built.target.value).toMatchObject({
    command: ["run", "{{.input}}"],
    args: [request.inputUri, request.outputPrefix, "3", taskFile],
  });
  expect([...store.blobs.keys()]).toEqual([taskFile]);
  expect(request.template?.target.value).toMatchObject({
    args: ["{{.input}}", "{{ .outputPrefix }}", "{{.inputs.a}}", "{{.taskTemplatePath}}"],
  });
});

test("SQL stays as it is", async () => {
  const { built, request } = await build({ case: "sql", value: { statement: "SELECT '{{.inputs.a}}', @a" } });
  expect(built).toEqual(request.template);
  const bare = await build(undefined);
  expect(bare.built).toEqual(bare.request.template);
});

test("a pod gets arguments in all containers", async () => {
  const podSpec: JsonObject = {
    containers: [{ name: "main", args: ["{{.input}}"], command: ["{{.input}}"] }, { name: "side" }],
    initContainers: [{ name: "init", args: ["{{.inputs.a}}"] }],
    restartPolicy: "Never",
  };
  const { built, request } = await build({ case: "k8sPod", value: { podSpec, dataConfig: { enabled: true } } });
  expect(built.target.value).toMatchObject({
    podSpec: {
      containers: [{ name: "main", args: [request.inputUri], command: ["{{.input}}"] }, { name: "side" }],
      initContainers: [{ name: "init", args: ["3"] }],
      restartPolicy: "Never",
    },
    dataConfig: { enabled: true },
  });
});

test("a placeholder without a value is the user's error", async () => {
  const built = build({ case: "container", value: { args: ["{{.inputs.unknown}}"] } });
  await expect(built).rejects.toMatchObject({ name: "PermanentFailure", details: { code: "BadTaskSpecification", kind: "USER" } });
});
