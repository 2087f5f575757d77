import { create } from "@bufbuild/protobuf";
import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { LaunchPlanClosureSchema, type LaunchPlanSpec, LaunchPlanSpecSchema } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import type { Identifier } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { VariableMapSchema } from "@flyte-ts/idl/flyteidl/core/interface_pb";
import type { RegistryDeps } from "../deps.js";
import { checkLabels, digestOf, invalidArgument, structureDifference } from "../../platform/index.js";
import { ensureNamedEntity } from "../store/named-entities.js";
import { checkNotifications } from "./check-notifications.js";
import type { WorkflowInterface } from "../store/workflows.js";
import { catchUpPolicy } from "./catch-up.js";
import { findLaunchPlan, insertLaunchPlan, type StoredLaunchPlan } from "../store/launch-plans.js";
import { expectedInputs } from "./inputs.js";
import { checkSchedule, scheduleType } from "./schedule.js";

export interface NewLaunchPlan {
  readonly id: Identifier;
  readonly spec: LaunchPlanSpec;
  /** Workflow of the launch plan. */
  readonly workflow: WorkflowInterface;
}

export interface CreatedLaunchPlan extends StoredLaunchPlan {
  /** False when the same launch plan existed before. */
  readonly isNew: boolean;
}

/**
 * Validates and stores a version of a launch plan, inactive; the caller has validated its project
 * and identifiers. Idempotent for equal content, also under concurrency.
 *
 * @throws RpcError INVALID_ARGUMENT naming the field, or when the version exists with different
 *   content.
 */
export async function createLaunchPlanInternal(
  deps: Pick<RegistryDeps, "db" | "clock">,
  { id, spec: given, workflow }: NewLaunchPlan,
  state: NamedEntityState = NamedEntityState.NAMED_ENTITY_ACTIVE,
): Promise<CreatedLaunchPlan> {
  const spec = checkedSpec(given, workflow);
  const { bytes, digest } = digestOf(LaunchPlanSpecSchema, spec);
  const closure = create(LaunchPlanClosureSchema, {
    expectedInputs: spec.defaultInputs,
    expectedOutputs: workflow.interface.outputs ?? create(VariableMapSchema),
  });
  const type = scheduleType(spec.entityMetadata?.schedule);
  const isNew = await deps.db.transaction(async (tx) => {
    const inserted = await insertLaunchPlan(tx, {
      id,
      workflowRowId: workflow.rowId,
      spec: bytes,
      closure: digestOf(LaunchPlanClosureSchema, closure).bytes,
      digest,
      scheduleType: type,
      now: deps.clock(),
    });
    if (inserted) await ensureNamedEntity(tx, id, state);
    return inserted;
  });
  const stored = await findLaunchPlan(deps.db, id);
  if (stored === undefined) throw new Error("a launch plan that existed a moment ago no longer exists");
  if (!isNew && !Buffer.from(stored.digest).equals(digest)) {
    throw invalidArgument(
      `${id.name} launch plan with different structure already exists. (Please register a new version of the launch plan):\n` +
        structureDifference(LaunchPlanSpecSchema, stored.launchPlan.spec ?? create(LaunchPlanSpecSchema), spec),
    );
  }
  return { ...stored, isNew };
}

/** Returns the spec to store: its default inputs are all inputs that are not fixed. */
function checkedSpec(given: LaunchPlanSpec, workflow: WorkflowInterface): LaunchPlanSpec {
  checkLabels(given.labels);
  catchUpPolicy(given.annotations);
  const expected = expectedInputs({
    workflowInputs: workflow.interface.inputs,
    fixed: given.fixedInputs,
    defaults: given.defaultInputs,
  });
  const metadata = given.entityMetadata;
  checkSchedule(metadata?.schedule, expected);
  checkNotifications(metadata?.notifications ?? []);
  if (metadata?.launchConditions !== undefined) {
    throw invalidArgument(`Launch condition must be empty, found ${metadata.launchConditions.typeUrl}`);
  }
  return { ...given, defaultInputs: expected };
}
