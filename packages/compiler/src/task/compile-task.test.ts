import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { isQuantity } from "@flyte-ts/domain/quantity";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type ContainerSchema, type K8sPodSchema, Resources_ResourceName, TaskTemplateSchema } from "@flyte-ts/idl/flyteidl/core/tasks_pb";
import { describe, expect, it } from "vitest";
import { identifier, int } from "../template.fixture.js";
import { compileTask } from "./compile-task.js";

type Init = Extract<MessageInitShape<typeof TaskTemplateSchema>, { $typeName?: undefined }>;
const template = (init: Init) => create(TaskTemplateSchema, { id: identifier(ResourceType.TASK, "t"), ...init });
const container = (value: MessageInitShape<typeof ContainerSchema>): Init => ({ target: { case: "container", value } });
const pod = (podSpec: MessageInitShape<typeof K8sPodSchema>["podSpec"]): Init => ({ target: { case: "k8sPod", value: { podSpec } } });
const withInput: Init = { interface: { inputs: { variables: { a: { type: int } } } } };

function errorsOf(init: Init): string[] {
  const result = compileTask(template(init));
  return result.ok ? [] : result.errors.map(({ code, nodeId }) => `${code} ${nodeId}`);
}

describe("compileTask", () => {
  it("returns a valid template", () => {
    const task = template({ ...withInput, ...container({ image: "i", args: ["run"] }) });
    expect(compileTask(task)).toMatchObject({ ok: true, compiled: { template: task } });
  });

  it.each<[string, Init, string[]]>([
    ["a task without a target", {}, []],
    ["a task without an id", { id: undefined }, ["ValueRequired root"]],
    ["a container without an image", container({ args: ["run"] }), ["ValueRequired container"]],
    ["inputs without command or arguments", { ...withInput, ...container({ image: "i" }) }, ["ValueRequired container"]],
    ["neither inputs nor outputs nor command", container({ image: "i" }), []],
    ["a command only", { ...withInput, ...container({ image: "i", command: ["run"] }) }, []],
    [
      "several invalid quantities",
      container({
        image: "i",
        resources: {
          requests: [
            { name: Resources_ResourceName.CPU, value: "500m" },
            { name: Resources_ResourceName.MEMORY, value: "lots" },
          ],
          limits: [{ name: Resources_ResourceName.CPU, value: "" }],
        },
      }),
      ["UnrecognizedValue resources.CPU", "UnrecognizedValue resources.MEMORY"],
    ],
    ["a pod", pod({ containers: [{ name: "primary" }] }), []],
    ["a pod without containers", pod({}), []],
    ["no pod specification", pod(undefined), ["InvalidValue root"]],
    ["containers that are not a list", pod({ containers: "x" }), ["InvalidValue root"]],
    ["a container that is not an object", pod({ containers: ["x"] }), ["InvalidValue root"]],
    ["a container's name in capitals", pod({ containers: [{ name: "Primary" }] }), ["InvalidValue root"]],
    ["a container without a name", pod({ containers: [{}] }), ["InvalidValue root"]],
    ["a name of 64 characters", pod({ containers: [{ name: "a".repeat(64) }] }), ["InvalidValue root"]],
    ["a name of 63 characters", pod({ containers: [{ name: "a".repeat(63) }] }), []],
    ["arguments that are not strings", pod({ containers: [{ name: "p", args: [1] }] }), ["InvalidValue root"]],
    ["a node selector that is not a map of strings", pod({ nodeSelector: { a: 1 } }), ["InvalidValue root"]],
    [
      "a resource amount that is not a quantity",
      pod({ containers: [{ name: "p", resources: { requests: { cpu: "lots" } } }] }),
      ["InvalidValue root"],
    ],
    [
      "a resource amount that is not a string",
      pod({ containers: [{ name: "p", resources: { limits: { "x.y/z": true } } }] }),
      ["InvalidValue root"],
    ],
    [
      "numbers and nulls as resource amounts",
      pod({ containers: [{ name: "p", resources: { requests: { cpu: 1.5, memory: null } } }] }),
      [],
    ],
    ["null for absent fields", pod({ containers: [{ name: "p", args: null }], volumes: null }), []],
  ])("judges %s", (_, init, errors) => expect(errorsOf(init)).toEqual(errors));

  it("an error names the field and the rule", () => {
    const result = compileTask(template(pod({ containers: [{ name: "ok" }, { name: "_" }] })));
    const description = expect.stringMatching(/k8s_pod\.pod_spec\.containers\[1\]\.name.*DNS-1123/);
    expect(result).toMatchObject({ ok: false, errors: [{ description }] });
  });

  it("rejects a template nested beyond the limit", () => {
    const task = template({});
    let custom: Record<string, object> = {};
    for (let i = 0; i < 10_000; i++) custom = { a: custom };
    task.custom = custom as NonNullable<typeof task.custom>;
    expect(compileTask(task)).toMatchObject({ ok: false, errors: [{ code: "InvalidValue" }] });
  });
});

describe("isQuantity", () => {
  it("accepts the quantities that Kubernetes accepts", () => {
    for (const good of ["0", "1", "-1", "+1", "1.5", ".5", "1.", "500m", "2Gi", "1E", "1e3", "1E-3", "12k", "1n"]) {
      expect.soft(isQuantity(good), good).toBe(true);
    }
    for (const bad of ["", " ", "1 ", "lots", "1K", "1gi", "1mi", "1Q", "1e", "--1", ".", "1.2.3", "0x1", "1Gi2"]) {
      expect.soft(isQuantity(bad), bad).toBe(false);
    }
  });
});
