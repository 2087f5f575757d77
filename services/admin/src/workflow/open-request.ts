import { fromBinary } from "@bufbuild/protobuf";
import { type WorkflowCreateRequest, WorkflowCreateRequestSchema } from "@flyte-ts/idl/flyteidl/admin/workflow_pb";
import type { WorkflowTemplate } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import { messagesIn, rewriteField } from "@flyte-ts/workflow-crd";

/** Requests of so many bytes come with thousands of nodes. */
const LARGE_BYTES = 1024 * 1024;

// Numbers of fields: WorkflowCreateRequest, WorkflowSpec, WorkflowTemplate.
const SPEC = 2;
const TEMPLATE = 1;
const NODES = 4;

const encodedTemplates = new WeakMap<WorkflowTemplate, Uint8Array>();

/**
 * A request to register a workflow from its bytes. Of a large one the template's nodes are left to the thread that compiles it
 * (100,000 take 200 MiB and a second); the template's bytes stand in {@link encodedTemplateOf}.
 */
export function openWorkflowRequest(bytes: Uint8Array): WorkflowCreateRequest {
  const template = bytes.length < LARGE_BYTES ? undefined : onlyTemplateIn(bytes);
  if (template === undefined) return fromBinary(WorkflowCreateRequestSchema, bytes);
  const withoutNodes = rewriteField(bytes, SPEC, (spec) =>
    rewriteField(spec, TEMPLATE, () => rewriteField(template, NODES, () => undefined)),
  );
  const request = fromBinary(WorkflowCreateRequestSchema, withoutNodes);
  if (request.spec?.template !== undefined) encodedTemplates.set(request.spec.template, template);
  return request;
}

/** The bytes of a template whose nodes have not been decoded, with its nodes. */
export function encodedTemplateOf(template: WorkflowTemplate): Uint8Array | undefined {
  return encodedTemplates.get(template);
}

/** Undefined where there is none, or where there are parts of it to be merged. */
function onlyTemplateIn(bytes: Uint8Array): Uint8Array | undefined {
  const templates = [...messagesIn(bytes, SPEC)].map((spec) => [...messagesIn(spec, TEMPLATE)]);
  return templates.length === 1 && templates[0]?.length === 1 ? templates[0][0] : undefined;
}
