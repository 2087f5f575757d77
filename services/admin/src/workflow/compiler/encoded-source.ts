import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import type { LaunchPlanInterface } from "@flyte-ts/compiler";
import { type LaunchPlan, LaunchPlanSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { CompiledTaskSchema } from "@flyte-ts/idl/flyteidl/core/compiler_pb";
import { ParameterMapSchema, VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import { LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { WorkflowTemplateSchema } from "@flyte-ts/idl/flyteidl/core/workflow_pb";
import type { CompileSource } from "./compile-to-bytes.js";

/** A {@link CompileSource} as another thread can be sent it: encoded, for a copy of the objects would take as long and more memory. */
export interface EncodedSource {
  readonly template: Uint8Array;
  readonly subWorkflows: readonly Uint8Array[];
  readonly tasks: readonly Uint8Array[];
  /** admin.LaunchPlan with what an interface is made of. */
  readonly launchPlans: readonly Uint8Array[];
}

export function encodeSource({ template, subWorkflows, tasks, launchPlans }: CompileSource): EncodedSource {
  return {
    template: toBinary(WorkflowTemplateSchema, template),
    subWorkflows: subWorkflows.map((each) => toBinary(WorkflowTemplateSchema, each)),
    tasks: tasks.map((each) => toBinary(CompiledTaskSchema, each)),
    launchPlans: launchPlans.map(({ id, expectedInputs, fixedInputs, expectedOutputs }) =>
      toBinary(LaunchPlanSchema, create(LaunchPlanSchema, { id, spec: { fixedInputs }, closure: { expectedInputs, expectedOutputs } })),
    ),
  };
}

export function decodeSource({ template, subWorkflows, tasks, launchPlans }: EncodedSource): CompileSource {
  return {
    template: fromBinary(WorkflowTemplateSchema, template),
    subWorkflows: subWorkflows.map((bytes) => fromBinary(WorkflowTemplateSchema, bytes)),
    tasks: tasks.map((bytes) => fromBinary(CompiledTaskSchema, bytes)),
    launchPlans: launchPlans.map((bytes) => launchPlanInterface(fromBinary(LaunchPlanSchema, bytes))),
  };
}

/** What a node may bind of a launch plan, and what it gives. */
export function launchPlanInterface({ id, spec, closure }: LaunchPlan): LaunchPlanInterface {
  if (id === undefined) throw new TypeError("a launch plan without an id");
  return {
    id,
    expectedInputs: closure?.expectedInputs ?? create(ParameterMapSchema),
    fixedInputs: spec?.fixedInputs ?? create(LiteralMapSchema),
    expectedOutputs: closure?.expectedOutputs ?? create(VariableMapSchema),
  };
}
