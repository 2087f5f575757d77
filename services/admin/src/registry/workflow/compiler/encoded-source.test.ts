import { create, toBinary } from "@bufbuild/protobuf";
import { CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { IdentifierSchema, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ParameterMapSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { expect, test } from "vitest";
import { type CompileSource, compileToBytes } from "./compile-to-bytes.js";
import { encodeResolvedRefs, encodeTemplates } from "./encoded-source.js";
import { compileInSteps } from "./steps.js";

const id = (resourceType: ResourceType, name: string) =>
  create(IdentifierSchema, { resourceType, project: "p", domain: "d", name, version: "v" });
const integer = { type: { case: "simple", value: 1 } } as const;
const launchPlan = id(ResourceType.LAUNCH_PLAN, "l");
const task = id(ResourceType.TASK, "t");

const source: CompileSource = {
  template: create(WorkflowTemplateSchema, {
    id: id(ResourceType.WORKFLOW, "w"),
    metadata: {},
    metadataDefaults: {},
    interface: { inputs: { variables: { x: { type: integer } } }, outputs: {} },
    nodes: [
      {
        id: "n0",
        metadata: { name: "n0" },
        inputs: [{ var: "x", binding: { value: { case: "promise", value: { nodeId: "", var: "x" } } } }],
        target: { case: "taskNode", value: { reference: { case: "referenceId", value: task } } },
      },
      {
        id: "n1",
        metadata: { name: "n1" },
        inputs: [{ var: "x", binding: { value: { case: "promise", value: { nodeId: "n0", var: "o" } } } }],
        target: { case: "workflowNode", value: { reference: { case: "launchplanRef", value: launchPlan } } },
      },
    ],
  }),
  subWorkflows: [],
  tasks: [
    create(CompiledTaskSchema, {
      template: {
        id: task,
        type: "echo",
        metadata: {},
        interface: { inputs: { variables: { x: { type: integer } } }, outputs: { variables: { o: { type: integer } } } },
      },
    }),
  ],
  launchPlans: [
    {
      id: launchPlan,
      expectedInputs: create(ParameterMapSchema, {
        parameters: { x: { var: { type: integer }, behavior: { case: "required", value: true } } },
      }),
      fixedInputs: create(LiteralMapSchema, { literals: { f: {} } }),
      expectedOutputs: create(VariableMapSchema),
    },
  ],
};

test("incremental compilation from bytes gives the same closure", () => {
  const take = compileInSteps();
  const workflow = id(ResourceType.WORKFLOW, "w");
  const renamed = { ...source, template: { ...source.template, id: id(ResourceType.WORKFLOW, "other") } };
  expect(take({ open: encodeTemplates(workflow, renamed) })).toEqual({
    referred: { tasks: [toBinary(IdentifierSchema, task)], launchPlans: [toBinary(IdentifierSchema, launchPlan)] },
  });
  const here = compileToBytes(source);
  expect(here).toMatchObject({ ok: true, workflow: { nodes: 4 } });
  expect(take({ compile: encodeResolvedRefs(source) })).toEqual({ outcome: here });
  expect(() => take({ compile: encodeResolvedRefs(source) })).toThrow("no templates");
  const encoded = toBinary(WorkflowTemplateSchema, source.template);
  const withoutNodes = { ...source, template: { ...source.template, nodes: [] } };
  expect(encodeTemplates(workflow, withoutNodes, encoded)).toEqual(encodeTemplates(workflow, source));
});

test("an undecodable or unscannable template is refused at once", () => {
  const take = compileInSteps();
  const open = encodeTemplates(launchPlan, source);
  expect(take({ open: { ...open, template: open.template.subarray(0, -1) } })).toEqual({ malformed: expect.any(String) });
  const twice = [source.template, source.template].map((each) => toBinary(WorkflowTemplateSchema, each));
  expect(take({ open: { ...open, subWorkflows: twice } })).toMatchObject({ outcome: { ok: false } });
});

test("a compilation error has the reason", () => {
  expect(
    compileToBytes({ ...source, launchPlans: [{ ...source.launchPlans[0]!, expectedInputs: create(ParameterMapSchema) }] }),
  ).toMatchObject({
    ok: false,
    errors: expect.stringContaining("n1"),
  });
});
