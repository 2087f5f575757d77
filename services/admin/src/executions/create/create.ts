import { create, toBinary } from "@bufbuild/protobuf";
import { checkInputs } from "@flyte-ts/domain/literal";
import { randomExecutionName } from "@flyte-ts/domain/name";
import type { Notification } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import {
  ExecutionClosureSchema,
  type ExecutionCreateRequest,
  ExecutionMetadata_ExecutionMode,
  type ExecutionSpec,
  ExecutionSpecSchema,
  SystemMetadataSchema,
} from "@flyte-ts/idl/flyteidl/admin/execution_pb";
import { MatchableResource } from "@flyte-ts/idl/flyteidl/admin/matchable_resource_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { type LiteralMap, LiteralMapSchema } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import type { Queryable } from "@flyte-ts/postgres";
import { Code, RpcError } from "@flyte-ts/rpc";
import { nanosOfDate } from "@flyte-ts/execution-state";
import {
  type ExpansionCache,
  findExpansion,
  findLaunchPlan,
  type LaunchPlanCache,
  type LaunchPlanVersion,
  mergeConfig,
  rejectExpansion,
  resolveAttributesBatch,
  resourcesOf,
} from "../../registry/index.js";
import { invalidArgument, missingEntity, namespaceOf } from "../../platform/index.js";
import { chooseCluster, isPlacementNeeded, poolOf } from "../../clusters/index.js";
import { isBeingDeleted } from "../store/deletions.js";
import type { ExecutionsDeps } from "../deps.js";
import { claimedEntry } from "../store/outbox/outbox.js";
import { wakeParentNodes } from "../engine-notifier/publish-completions.js";
import { checkCreateRequest, type CheckedRequest } from "./check-request.js";
import { checkConcurrency, isLimited } from "../store/execution/concurrency.js";
import { inherit } from "./inherit.js";
import { findExecutionId } from "../store/execution/find.js";
import { insertClaimed, type Inserted, type NewExecution } from "../store/execution/insert.js";
import { encodeLaunchSettings, type Launcher } from "../model/launch-settings.js";
import { checkOwnFolder } from "./own-folder.js";
import { admissionError, findAdmissionError } from "./admission.js";
import { executionQueue } from "./execution-queue.js";
import { ensureSingleTask } from "./single-task.js";
import type { ExecutionName } from "../model/identifier.js";

export type CreateDeps = Pick<
  ExecutionsDeps,
  "db" | "bus" | "config" | "clusters" | "health" | "clock" | "random" | "logger" | "launchSlots"
> & {
  /** Cache of launch plan versions; default: no cache. */
  readonly launchPlans?: Pick<LaunchPlanCache, "find">;
  /** Cache of the sizes of expanded workflows; default: no cache. */
  readonly expansionCache?: Pick<ExpansionCache, "find">;
};

export interface Caller {
  /** Authenticated caller; empty without authentication. */
  readonly principal: string;
  /** Issuer and groups of the principal; undefined without authentication. */
  readonly launcher?: Launcher | undefined;
  /** Execution that the new one relaunches or recovers. */
  readonly sourceExecutionId?: bigint | undefined;
}

/**
 * Accepts an execution: validates the request, resolves its settings, and stores row and outbox
 * entry in one transaction. Of concurrent requests for one name exactly one succeeds.
 *
 * @throws RpcError INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS.
 */
export async function createExecution(deps: CreateDeps, given: ExecutionCreateRequest, caller: Caller): Promise<ExecutionName> {
  const request = withInputs(given);
  const checked = await checkCreateRequest(deps, request);
  const target = await findLaunchable(deps, checked);
  await rejectTooLarge(deps, target);
  const { launchPlan } = target;
  const inputs = checkInputs({
    expected: launchPlan.closure?.expectedInputs,
    fixed: launchPlan.spec?.fixedInputs,
    given: request.inputs,
  });
  if (!inputs.ok) throw invalidArgument(inputs.errors[0]?.message ?? "invalid inputs");
  const id = { project: request.project, domain: request.domain, name: request.name || randomExecutionName(deps.random) };
  await checkOwnFolder(deps.db, id, deps.config);
  const row = await buildExecution(deps, { id, checked, what: target, inputs: inputs.inputs, userInputs: request.inputs, caller });
  await rejectIfSourceIsBeingDeleted(deps.db, row);
  const rowId = await store(deps, row, target);
  if (row.failure !== undefined) await wakeParentNodes(deps, [rowId]);
  return id;
}

/** Stores the execution and, if a slot is free, launches it. Returns the row id. */
async function store(deps: CreateDeps, row: NewExecution, { launchPlan, launchPlanRowId }: Launchable): Promise<bigint> {
  const { id: limitedBy, spec } = launchPlan;
  const policy = spec?.concurrencyPolicy;
  const place = row.failure === undefined ? deps.launchSlots?.reserve() : undefined;
  const insert = (tx: Queryable) => insertClaimed(tx, row, place === undefined ? 0 : (deps.launchSlots?.leaseMs ?? 0));
  let inserted: Inserted;
  try {
    if (launchPlanRowId === undefined || limitedBy === undefined || !isLimited(policy)) inserted = await insert(deps.db);
    else {
      inserted = await deps.db.transaction(async (tx) => {
        await checkConcurrency(tx, limitedBy, policy);
        return insert(tx);
      });
    }
  } catch (error) {
    place?.release();
    throw error;
  }
  const { rowId, entryId } = inserted;
  if (entryId === undefined) place?.release();
  else place?.start(claimedEntry(row, { rowId, entryId }));
  return rowId;
}

/** Rejects children and recoveries of an execution that is being deleted. */
async function rejectIfSourceIsBeingDeleted(db: Queryable, { parent, mode, sourceExecutionId }: NewExecution): Promise<void> {
  const recovered = mode === ExecutionMetadata_ExecutionMode.RECOVERED ? sourceExecutionId : undefined;
  for (const rowId of [parent?.executionId, recovered]) {
    if (rowId !== undefined && (await isBeingDeleted(db, rowId))) {
      throw new RpcError(Code.FAILED_PRECONDITION, "the parent execution is being deleted");
    }
  }
}

/** Older clients send the inputs in the spec. */
function withInputs(request: ExecutionCreateRequest): ExecutionCreateRequest {
  const given = request.inputs !== undefined && Object.keys(request.inputs.literals).length > 0;
  const inputs = given ? request.inputs : (request.spec?.inputs ?? request.inputs);
  return inputs === undefined ? request : { ...request, inputs };
}

interface Launchable {
  readonly launchPlan: LaunchPlanVersion["launchPlan"];
  /** Undefined for a task: its hidden launch plan does not count as launched. */
  readonly launchPlanRowId: bigint | undefined;
  readonly taskRowId: bigint | undefined;
  readonly workflow: Identifier;
  readonly workflowRowId: bigint;
}

async function findLaunchable(deps: CreateDeps, { entity, spec }: CheckedRequest): Promise<Launchable> {
  if (entity.resourceType === ResourceType.TASK) {
    const single = await ensureSingleTask(deps, entity, spec);
    return { ...single, launchPlan: single.launchPlan.launchPlan, launchPlanRowId: undefined };
  }
  const found = await (deps.launchPlans?.find(entity) ?? findLaunchPlan(deps.db, entity));
  const workflow = found?.launchPlan.spec?.workflowId;
  if (found === undefined || workflow === undefined) throw missingEntity("LAUNCH_PLAN", entity);
  return { launchPlan: found.launchPlan, launchPlanRowId: found.rowId, taskRowId: undefined, workflow, workflowRowId: found.workflowRowId };
}

/** Rejects a workflow above the current limits, which may differ from those at its registration. */
async function rejectTooLarge(
  { db, config, expansionCache }: CreateDeps,
  { workflow, workflowRowId, taskRowId }: Launchable,
): Promise<void> {
  if (taskRowId !== undefined) return;
  const expansion = await (expansionCache?.find(workflowRowId) ?? findExpansion(db, workflowRowId));
  if (expansion !== undefined) rejectExpansion(workflow.name, expansion, config);
}

interface ExecutionDraft {
  readonly id: ExecutionName;
  readonly checked: CheckedRequest;
  readonly what: Launchable;
  readonly inputs: LiteralMap;
  readonly userInputs: LiteralMap | undefined;
  readonly caller: Caller;
}

async function buildExecution(
  deps: CreateDeps,
  { id, checked, what: target, inputs, userInputs, caller }: ExecutionDraft,
): Promise<NewExecution> {
  const { spec, project } = checked;
  const { launchPlan, workflow } = target;
  const isTask = target.taskRowId !== undefined;
  const inherited = await inherit(deps.db, spec, caller);
  // Saves the query: most projects have no attributes, and the workflow is in the same project.
  const mayHaveAttributes = project.hasAttributes || workflow.project !== id.project;
  const attributes: Settings = mayHaveAttributes
    ? await findSettings(deps, id, { workflow, launchPlan: launchPlan.id?.name ?? "", isTask })
    : {};
  const config = mergeConfig({
    request: spec,
    launchPlan: isTask ? undefined : launchPlan.spec,
    // The most specific attributes come first, then the project's: each setting has the first value
    // found.
    attributes: [attributes.config, attributes.projectConfig].filter((each) => each !== undefined),
    defaults: deps.config.executionDefaults,
  });
  // Labels of the project have the lowest precedence.
  const labels = { ...project.labels?.values, ...config.labels?.values };
  const pool = poolOf(deps.config.placement, id, { wanted: spec.clusterAssignment, configured: attributes.cluster });
  const label = inherited.clusterLabel?.value ?? "";
  const needsPlacement = isPlacementNeeded(deps.clusters, deps.config.placement);
  const placementRequest = { label: label || (attributes.label?.value ?? ""), pool };
  // Children run in the cluster of their parent.
  const reassignable = needsPlacement && inherited.cluster === undefined;
  const cluster = inherited.cluster ?? (needsPlacement ? chooseCluster(deps, id, placementRequest) : "");
  const admissionFailure = findAdmissionError({
    name: id.name,
    annotations: config.annotations?.values ?? {},
    clusterLabel: needsPlacement ? "" : label,
  });
  const stored: ExecutionSpec = {
    ...spec,
    metadata: {
      ...inherited.metadata,
      systemMetadata: create(SystemMetadataSchema, {
        executionCluster: cluster,
        namespace: namespaceOf(deps.config.namespaceTemplate, id.project, id.domain),
      }),
    },
    ...(config.securityContext && { securityContext: config.securityContext }),
    ...(inherited.clusterLabel && { executionClusterLabel: inherited.clusterLabel }),
    // Clients see the merged value for launch plans, and the requested value for tasks.
    maxParallelism: isTask ? spec.maxParallelism : config.maxParallelism,
    ...(spec.labels && { labels: { ...spec.labels, values: { ...project.labels?.values, ...spec.labels.values } } }),
  };
  const recovers = stored.metadata?.mode === ExecutionMetadata_ExecutionMode.RECOVERED ? stored.metadata.referenceExecution : undefined;
  const sourceExecutionId =
    caller.sourceExecutionId ?? (recovers && (await findExecutionId(deps.db, recovers))) ?? inherited.sourceExecutionId;
  const settings = encodeLaunchSettings({
    workflow,
    config: { ...config, labels: { $typeName: "flyteidl.admin.Labels", values: labels } },
    resources: resourcesOf(attributes.resources, deps.config),
    pluginOverrides: attributes.plugins?.overrides ?? [],
    queue: executionQueue(deps.config.queues, { domain: workflow.domain, execution: id.name, tags: attributes.queue?.tags }),
    recovers,
    placement: reassignable ? placementRequest : undefined,
    launcher: inherited.launcher,
  });
  const base = [deps.config.storage.container, deps.config.storage.metadataPrefix, id.project, id.domain, id.name].join("/");
  return {
    ...id,
    launchPlanId: target.launchPlanRowId,
    launchPlanName: isTask ? "" : (launchPlan.id?.name ?? ""),
    workflowId: target.workflowRowId,
    workflowName: workflow.name,
    taskId: target.taskRowId,
    launchEntity: isTask ? "task" : "launch_plan",
    mode: inherited.metadata.mode,
    principal: inherited.metadata.principal,
    cluster,
    reassignable,
    sourceExecutionId,
    parent: inherited.parent,
    spec: toBinary(ExecutionSpecSchema, stored),
    inputs: toBinary(LiteralMapSchema, inputs),
    userInputs: userInputs === undefined ? new Uint8Array() : toBinary(LiteralMapSchema, userInputs),
    inputsUri: `${base}/inputs`,
    userInputsUri: `${base}/user_inputs`,
    closure: toBinary(
      ExecutionClosureSchema,
      create(ExecutionClosureSchema, { workflowId: workflow, notifications: notificationsOf(spec, launchPlan) }),
    ),
    launchSettings: settings,
    acceptedAt: nanosOfDate(deps.clock()),
    failure: admissionFailure === undefined ? undefined : admissionError(admissionFailure),
    labels: spec.labels?.values ?? {},
    tags: spec.tags,
  };
}

/** The request's own list has precedence; `disable_all` disables the launch plan's. */
function notificationsOf({ notificationOverrides: own }: ExecutionSpec, launchPlan: LaunchPlanVersion["launchPlan"]): Notification[] {
  if (own.case === "notifications" && own.value.notifications.length > 0) return own.value.notifications;
  if (own.case === "disableAll" && own.value) return [];
  return launchPlan.spec?.entityMetadata?.notifications ?? [];
}

interface SettingsScope {
  readonly workflow: Identifier;
  readonly launchPlan: string;
  readonly isTask: boolean;
}

type Settings = Partial<Awaited<ReturnType<typeof findSettings>>>;

/** Loads the attributes of the project, domain, workflow and launch plan. */
function findSettings({ db }: CreateDeps, { project, domain, name }: ExecutionName, { workflow, launchPlan, isTask }: SettingsScope) {
  const scope = { project, domain };
  const config = { kind: MatchableResource.WORKFLOW_EXECUTION_CONFIG, target: "workflowExecutionConfig" } as const;
  return resolveAttributesBatch(db, {
    config: { ...config, scope: { ...scope, workflow: workflow.name } },
    projectConfig: { ...config, scope: { project } },
    cluster: { kind: MatchableResource.CLUSTER_ASSIGNMENT, target: "clusterAssignment", scope },
    label: {
      kind: MatchableResource.EXECUTION_CLUSTER_LABEL,
      target: "executionClusterLabel",
      scope: { ...scope, workflow: workflow.name, launchPlan },
    },
    resources: {
      kind: MatchableResource.TASK_RESOURCE,
      target: "taskResourceAttributes",
      scope: { project: workflow.project, domain: workflow.domain, workflow: workflow.name },
    },
    queue: {
      kind: MatchableResource.EXECUTION_QUEUE,
      target: "executionQueueAttributes",
      scope: { project: workflow.project, domain: workflow.domain, workflow: workflow.name },
    },
    plugins: {
      kind: MatchableResource.PLUGIN_OVERRIDE,
      target: "pluginOverrides",
      scope: { ...scope, workflow: isTask ? name : workflow.name, launchPlan },
    },
  });
}
