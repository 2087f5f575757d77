import { forEachConcurrent } from "@flyte-ts/async";
import { Code } from "@flyte-ts/client";
import type { DescriptionEntity } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import { type LaunchPlan, LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { paginate, undefinedIfNotFound, isCode, retryWhileUnavailable, permanentErrorMessage } from "./admin-calls.js";
import type { ImportContext, ProjectDomain } from "./run-import.js";
import { toRegisteredTemplate } from "./to-registered-template.js";

/** A versioned entity, and how to register it. */
interface Registration {
  readonly kind: "task" | "workflow" | "launch plan";
  readonly id: Identifier;
  /** Milliseconds since the epoch: dependencies are older. */
  readonly createdAtMs: number;
  readonly register: () => Promise<unknown>;
}

const OLDEST_FIRST = { sortBy: { key: "created_at", direction: Sort_Direction.ASCENDING } };
const nameOf = ({ project, domain, name, version }: Identifier) => `${project}/${domain}/${name}/${version}`;
const milliseconds = (time: { seconds: bigint; nanos: number } | undefined) => Number(time?.seconds ?? 0n) * 1e3 + (time?.nanos ?? 0) / 1e6;

/** Imports tasks, workflows and launch plans, with their descriptions, in dependency order. */
export async function importEntities(context: ImportContext, projectDomains: readonly ProjectDomain[]): Promise<void> {
  const tasks: Registration[] = [];
  const others: Registration[] = [];
  for (const projectDomain of projectDomains) {
    context.progress(`entities of ${projectDomain.project}/${projectDomain.domain}`);
    tasks.push(...(await listTasks(context, projectDomain)));
    others.push(...(await listWorkflows(context, projectDomain)), ...(await listLaunchPlans(context, projectDomain)));
  }
  await forEachConcurrent(tasks, context.config.concurrency, async (task) => {
    const why = await registerOne(context, task);
    if (why !== undefined) context.report.skip({ kind: task.kind, what: nameOf(task.id), why });
  });
  await registerUntilStable(
    context,
    others.sort((a, b) => a.createdAtMs - b.createdAtMs),
  );
}

/**
 * Registers one after the other; those with missing dependencies are retried until a round makes no
 * progress.
 */
async function registerUntilStable(context: ImportContext, registrations: readonly Registration[]): Promise<void> {
  let remaining = registrations;
  for (;;) {
    const rejected: { readonly registration: Registration; readonly why: string }[] = [];
    for (const registration of remaining) {
      const why = await registerOne(context, registration);
      if (why !== undefined) rejected.push({ registration, why });
    }
    if (rejected.length === 0) return;
    if (rejected.length === remaining.length) {
      for (const { registration, why } of rejected) context.report.skip({ kind: registration.kind, what: nameOf(registration.id), why });
      return;
    }
    remaining = rejected.map(({ registration }) => registration);
  }
}

/** Returns the reason of a refusal; undefined when it is registered. */
async function registerOne({ report }: ImportContext, { kind, register }: Registration): Promise<string | undefined> {
  try {
    await retryWhileUnavailable(register);
    report.record(kind, "imported");
  } catch (error) {
    if (!isCode(error, Code.ALREADY_EXISTS)) return permanentErrorMessage(error);
    report.record(kind, "there");
  }
  return undefined;
}

/**
 * Admins may answer with the description of another kind of entity when the requested kind has
 * none.
 */
async function readDescription({ from }: ImportContext, id: Identifier): Promise<{ readonly description?: DescriptionEntity }> {
  const description = await undefinedIfNotFound(() => from.admin.getDescriptionEntity({ id }));
  return description?.id?.resourceType === id.resourceType ? { description } : {};
}

async function listTasks(context: ImportContext, projectDomain: ProjectDomain): Promise<Registration[]> {
  const { from, to } = context;
  const registrations: Registration[] = [];
  const listed = paginate(
    (page) => from.admin.listTasks({ id: projectDomain, ...page, ...OLDEST_FIRST }),
    (response) => response.tasks,
  );
  for await (const { id, closure } of listed) {
    const template = closure?.compiledTask?.template;
    if (id === undefined || template === undefined) continue;
    const register = async () => to.admin.createTask({ id, spec: { template, ...(await readDescription(context, id)) } });
    registrations.push({ kind: "task", id, createdAtMs: milliseconds(closure?.createdAt), register });
  }
  return registrations;
}

async function listWorkflows(context: ImportContext, projectDomain: ProjectDomain): Promise<Registration[]> {
  const { from, to } = context;
  const registrations: Registration[] = [];
  const listed = paginate(
    (page) => from.admin.listWorkflows({ id: projectDomain, ...page, ...OLDEST_FIRST }),
    (response) => response.workflows,
  );
  for await (const { id, closure } of listed) {
    if (id === undefined) continue;
    // Lists may omit the graph, and all graphs at once may exceed the memory: each is fetched when
    // it is registered.
    const register = async () => {
      const whole = await retryWhileUnavailable(() => from.admin.getWorkflow({ id: { ...id, resourceType: ResourceType.WORKFLOW } }));
      const compiled = whole.closure?.compiledWorkflow;
      const template = compiled?.primary?.template;
      if (compiled === undefined || template === undefined) throw new Error(`the source has no graph of ${nameOf(id)}`);
      const subWorkflows = compiled.subWorkflows.flatMap(({ template: sub }) => (sub === undefined ? [] : [toRegisteredTemplate(sub)]));
      return to.admin.createWorkflow({
        id,
        spec: { template: toRegisteredTemplate(template), subWorkflows, ...(await readDescription(context, id)) },
      });
    };
    registrations.push({ kind: "workflow", id, createdAtMs: milliseconds(closure?.createdAt), register });
  }
  return registrations;
}

function iterateLaunchPlans({ from }: ImportContext, projectDomain: ProjectDomain): AsyncGenerator<LaunchPlan> {
  return paginate(
    (page) => from.admin.listLaunchPlans({ id: projectDomain, ...page, ...OLDEST_FIRST }),
    (response) => response.launchPlans,
  );
}

async function listLaunchPlans(context: ImportContext, projectDomain: ProjectDomain): Promise<Registration[]> {
  const registrations: Registration[] = [];
  for await (const { id, spec, closure } of iterateLaunchPlans(context, projectDomain)) {
    if (id === undefined || spec === undefined) continue;
    const register = () => context.to.admin.createLaunchPlan({ id, spec });
    registrations.push({ kind: "launch plan", id, createdAtMs: milliseconds(closure?.createdAt), register });
  }
  return registrations;
}

/**
 * Activates the launch plans that are active in the source, as configured: their schedules begin to
 * fire.
 */
export async function activateLaunchPlans(context: ImportContext, projectDomain: ProjectDomain): Promise<void> {
  const { to, config, report } = context;
  if (config.activate === "none") return;
  for await (const { id, spec, closure } of iterateLaunchPlans(context, projectDomain)) {
    if (id === undefined || closure?.state !== LaunchPlanState.ACTIVE) continue;
    const schedule = spec?.entityMetadata?.schedule?.ScheduleExpression;
    if (schedule?.case !== undefined && config.activate === "unscheduled") {
      report.skip({
        kind: "activation",
        what: nameOf(id),
        why: "it has a schedule: run again with --activate all after the source has been stopped",
      });
      continue;
    }
    try {
      await retryWhileUnavailable(() => to.admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE }));
      report.record("activation", "imported");
    } catch (error) {
      report.skip({ kind: "activation", what: nameOf(id), why: permanentErrorMessage(error) });
    }
  }
}
