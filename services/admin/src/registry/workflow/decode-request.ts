import { fromBinary } from "@bufbuild/protobuf";
import { type WorkflowCreateRequest, WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { fieldValues, mapField } from "@flyte-ts/workflow-crd";

/** Request size, bytes, from which thousands of nodes are likely. */
const LARGE_BYTES = 1024 * 1024;

// Field numbers of WorkflowCreateRequest, WorkflowSpec, WorkflowTemplate.
const SPEC = 2;
const TEMPLATE = 1;
const NODES = 4;

const encodedTemplates = new WeakMap<WorkflowTemplate, Uint8Array>();

/**
 * Decodes a request to register a workflow. For a large one it leaves the template's nodes to the
 * compiling thread (100,000 take 200 MiB and a second); {@link encodedTemplateOf} returns the
 * encoded template.
 */
export function decodeWorkflowRequest(bytes: Uint8Array): WorkflowCreateRequest {
  const template = bytes.length < LARGE_BYTES ? undefined : onlyTemplateIn(bytes);
  if (template === undefined) return fromBinary(WorkflowCreateRequestSchema, bytes);
  const withoutNodes = mapField(bytes, SPEC, (spec) => mapField(spec, TEMPLATE, () => mapField(template, NODES, () => undefined)));
  const request = fromBinary(WorkflowCreateRequestSchema, withoutNodes);
  if (request.spec?.template !== undefined) encodedTemplates.set(request.spec.template, template);
  return request;
}

/** Returns the complete encoded template, if its nodes have not been decoded. */
export function encodedTemplateOf(template: WorkflowTemplate): Uint8Array | undefined {
  return encodedTemplates.get(template);
}

/** Undefined without a template, or when several parts must be merged. */
function onlyTemplateIn(bytes: Uint8Array): Uint8Array | undefined {
  const templates = [...fieldValues(bytes, SPEC)].map((spec) => [...fieldValues(spec, TEMPLATE)]);
  return templates.length === 1 && templates[0]?.length === 1 ? templates[0][0] : undefined;
}
