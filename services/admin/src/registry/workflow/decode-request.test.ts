import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { expect, test } from "vitest";
import { encodedTemplateOf, decodeWorkflowRequest } from "./decode-request.js";

const requestOf = (nodes: number) =>
  create(WorkflowCreateRequestSchema, {
    id: { project: "p", domain: "d", name: "w", version: "v" },
    spec: {
      template: {
        id: { name: "w" },
        interface: { inputs: { variables: { x: {} } } },
        nodes: Array.from({ length: nodes }, (_, i) => ({ id: `n${i}`, metadata: { name: "x".repeat(90) } })),
        outputs: [{ var: "o" }],
      },
      subWorkflows: [{ id: { name: "s" }, nodes: [{ id: "inner" }] }],
      description: { shortDescription: "short" },
    },
  });

test("a large request is decoded without its nodes, which stay in the template's bytes", () => {
  const request = requestOf(20_000);
  const opened = decodeWorkflowRequest(toBinary(WorkflowCreateRequestSchema, request));
  const template = opened.spec?.template;
  expect(template?.nodes).toEqual([]);
  const encoded = template && encodedTemplateOf(template);
  expect(fromBinary(WorkflowTemplateSchema, encoded ?? new Uint8Array())).toEqual(request.spec?.template);
  expect(opened).toEqual({ ...request, spec: { ...request.spec, template: { ...request.spec?.template, nodes: [] } } });
});

test("a small request, one without a template and a split one are decoded completely", () => {
  const small = requestOf(1_000);
  const none = create(WorkflowCreateRequestSchema, { spec: { description: { shortDescription: "x".repeat(2_000_000) } } });
  for (const request of [small, none]) {
    const opened = decodeWorkflowRequest(toBinary(WorkflowCreateRequestSchema, request));
    expect(opened).toEqual(request);
    expect(opened.spec?.template && encodedTemplateOf(opened.spec.template)).toBeUndefined();
  }
  const part = toBinary(WorkflowCreateRequestSchema, requestOf(10_000));
  const merged = decodeWorkflowRequest(Buffer.concat([part, part]));
  expect(merged.spec?.template?.nodes).toHaveLength(20_000);
});

test("an undecodable request throws", () => {
  const bytes = toBinary(WorkflowCreateRequestSchema, requestOf(20_000));
  expect(() => decodeWorkflowRequest(bytes.subarray(0, -3))).toThrow(Error);
});
