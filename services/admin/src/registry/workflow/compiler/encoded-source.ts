import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { LaunchPlanInterface } from "@flyte-ts/compiler";
import { type LaunchPlan, LaunchPlanSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { type Identifier, IdentifierSchema } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { ParameterMapSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { ResolvedRefs, EntityRefs, Templates } from "./compile-to-bytes.js";

// Messages to another thread contain bytes: structured clones of the objects would take as long and
// more memory.

export interface EncodedTemplates {
  /** Encoded core.Identifier, which replaces the template's. */
  readonly id: Uint8Array;
  readonly template: Uint8Array;
  readonly subWorkflows: readonly Uint8Array[];
}

export interface EncodedRefs {
  readonly tasks: readonly Uint8Array[];
  readonly launchPlans: readonly Uint8Array[];
}

export interface EncodedResolvedRefs {
  readonly tasks: readonly Uint8Array[];
  /** Encoded admin.LaunchPlan with the fields of its interface. */
  readonly launchPlans: readonly Uint8Array[];
}

/** @param encoded The encoded template, if available; the decoded one may then lack its nodes. */
export function encodeTemplates(id: Identifier, { template, subWorkflows }: Templates, encoded?: Uint8Array): EncodedTemplates {
  return {
    id: toBinary(IdentifierSchema, id),
    template: encoded ?? toBinary(WorkflowTemplateSchema, template),
    subWorkflows: subWorkflows.map((each) => toBinary(WorkflowTemplateSchema, each)),
  };
}

export function decodeTemplates({ id, template, subWorkflows }: EncodedTemplates): Templates {
  const whole = fromBinary(WorkflowTemplateSchema, template);
  whole.id = fromBinary(IdentifierSchema, id);
  return { template: whole, subWorkflows: subWorkflows.map((bytes) => fromBinary(WorkflowTemplateSchema, bytes)) };
}

export function encodeRefs({ tasks, launchPlans }: EntityRefs): EncodedRefs {
  const encode = (id: Identifier) => toBinary(IdentifierSchema, id);
  return { tasks: tasks.map(encode), launchPlans: launchPlans.map(encode) };
}

export function decodeRefs({ tasks, launchPlans }: EncodedRefs): EntityRefs {
  const decode = (bytes: Uint8Array) => fromBinary(IdentifierSchema, bytes);
  return { tasks: tasks.map(decode), launchPlans: launchPlans.map(decode) };
}

export function encodeResolvedRefs({ tasks, launchPlans }: ResolvedRefs): EncodedResolvedRefs {
  return {
    tasks: tasks.map((each) => toBinary(CompiledTaskSchema, each)),
    launchPlans: launchPlans.map(({ id, expectedInputs, fixedInputs, expectedOutputs }) =>
      toBinary(LaunchPlanSchema, create(LaunchPlanSchema, { id, spec: { fixedInputs }, closure: { expectedInputs, expectedOutputs } })),
    ),
  };
}

export function decodeResolvedRefs({ tasks, launchPlans }: EncodedResolvedRefs): ResolvedRefs {
  return {
    tasks: tasks.map((bytes) => fromBinary(CompiledTaskSchema, bytes)),
    launchPlans: launchPlans.map((bytes) => launchPlanInterface(fromBinary(LaunchPlanSchema, bytes))),
  };
}

/** Returns the inputs that a node may bind of a launch plan, and its outputs. */
export function launchPlanInterface({ id, spec, closure }: LaunchPlan): LaunchPlanInterface {
  if (id === undefined) throw new TypeError("a launch plan without an id");
  return {
    id,
    expectedInputs: closure?.expectedInputs ?? create(ParameterMapSchema),
    fixedInputs: spec?.fixedInputs ?? create(LiteralMapSchema),
    expectedOutputs: closure?.expectedOutputs ?? create(VariableMapSchema),
  };
}
