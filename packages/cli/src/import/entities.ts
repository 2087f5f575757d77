import { forEachConcurrent } from "@flyte-ts/async";
import { Code } from "@flyte-ts/client";
import type { DescriptionEntity } from "@flyte-ts/idl/flyteidl/admin/description_entity_pb";
import { type LaunchPlan, LaunchPlanState } from "@flyte-ts/idl/flyteidl/admin/launch_plan_pb";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { type Identifier, ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { allOf, found, isCode, patiently, refusalOf } from "./calls.js";
import type { Import, Place } from "./run.js";
import { asRegistered } from "./as-registered.js";

/** A versioned entity, and how to register it. */
interface Registration {
  readonly kind: "task" | "workflow" | "launch plan";
  readonly id: Identifier;
  /** Milliseconds since the epoch: dependencies are older. */
  readonly madeAt: number;
  readonly register: () => Promise<unknown>;
}

const OLDEST_FIRST = { sortBy: { key: "created_at", direction: Sort_Direction.ASCENDING } };
const nameOf = ({ project, domain, name, version }: Identifier) => `${project}/${domain}/${name}/${version}`;
const at = (time: { seconds: bigint; nanos: number } | undefined) => Number(time?.seconds ?? 0n) * 1e3 + (time?.nanos ?? 0) / 1e6;

/** Imports tasks, workflows and launch plans, with their descriptions, in dependency order. */
export async function importEntities(work: Import, places: readonly Place[]): Promise<void> {
  const tasks: Registration[] = [];
  const others: Registration[] = [];
  for (const place of places) {
    work.progress(`entities of ${place.project}/${place.domain}`);
    tasks.push(...(await tasksOf(work, place)));
    others.push(...(await workflowsOf(work, place)), ...(await launchPlansOf(work, place)));
  }
  await forEachConcurrent(tasks, work.config.concurrency, async (task) => {
    const why = await tryOne(work, task);
    if (why !== undefined) work.report.skip({ kind: task.kind, what: nameOf(task.id), why });
  });
  await inOrder(
    work,
    others.sort((a, b) => a.madeAt - b.madeAt),
  );
}

/** Registers one after the other; those with missing dependencies are retried until a round makes no progress. */
async function inOrder(work: Import, wanted: readonly Registration[]): Promise<void> {
  let left = wanted;
  for (;;) {
    const refused: { readonly registration: Registration; readonly why: string }[] = [];
    for (const registration of left) {
      const why = await tryOne(work, registration);
      if (why !== undefined) refused.push({ registration, why });
    }
    if (refused.length === 0) return;
    if (refused.length === left.length) {
      for (const { registration, why } of refused) work.report.skip({ kind: registration.kind, what: nameOf(registration.id), why });
      return;
    }
    left = refused.map(({ registration }) => registration);
  }
}

/** Returns the reason of a refusal; undefined when it is registered. */
async function tryOne({ report }: Import, { kind, register }: Registration): Promise<string | undefined> {
  try {
    await patiently(register);
    report.note(kind, "imported");
  } catch (error) {
    if (!isCode(error, Code.ALREADY_EXISTS)) return refusalOf(error);
    report.note(kind, "there");
  }
  return undefined;
}

/** Admins may answer with the description of another kind of entity when the requested kind has none. */
async function descriptionOf({ from }: Import, id: Identifier): Promise<{ readonly description?: DescriptionEntity }> {
  const description = await found(() => from.admin.getDescriptionEntity({ id }));
  return description?.id?.resourceType === id.resourceType ? { description } : {};
}

async function tasksOf(work: Import, place: Place): Promise<Registration[]> {
  const { from, to } = work;
  const registrations: Registration[] = [];
  const listed = allOf(
    (page) => from.admin.listTasks({ id: place, ...page, ...OLDEST_FIRST }),
    (answer) => answer.tasks,
  );
  for await (const { id, closure } of listed) {
    const template = closure?.compiledTask?.template;
    if (id === undefined || template === undefined) continue;
    const register = async () => to.admin.createTask({ id, spec: { template, ...(await descriptionOf(work, id)) } });
    registrations.push({ kind: "task", id, madeAt: at(closure?.createdAt), register });
  }
  return registrations;
}

async function workflowsOf(work: Import, place: Place): Promise<Registration[]> {
  const { from, to } = work;
  const registrations: Registration[] = [];
  const listed = allOf(
    (page) => from.admin.listWorkflows({ id: place, ...page, ...OLDEST_FIRST }),
    (answer) => answer.workflows,
  );
  for await (const { id, closure } of listed) {
    if (id === undefined) continue;
    // Lists may omit the graph, and all graphs at once may exceed the memory: each is fetched when it is registered.
    const register = async () => {
      const whole = await patiently(() => from.admin.getWorkflow({ id: { ...id, resourceType: ResourceType.WORKFLOW } }));
      const compiled = whole.closure?.compiledWorkflow;
      const template = compiled?.primary?.template;
      if (compiled === undefined || template === undefined) throw new Error(`the source has no graph of ${nameOf(id)}`);
      const subWorkflows = compiled.subWorkflows.flatMap(({ template: sub }) => (sub === undefined ? [] : [asRegistered(sub)]));
      return to.admin.createWorkflow({ id, spec: { template: asRegistered(template), subWorkflows, ...(await descriptionOf(work, id)) } });
    };
    registrations.push({ kind: "workflow", id, madeAt: at(closure?.createdAt), register });
  }
  return registrations;
}

function allLaunchPlans({ from }: Import, place: Place): AsyncGenerator<LaunchPlan> {
  return allOf(
    (page) => from.admin.listLaunchPlans({ id: place, ...page, ...OLDEST_FIRST }),
    (answer) => answer.launchPlans,
  );
}

async function launchPlansOf(work: Import, place: Place): Promise<Registration[]> {
  const registrations: Registration[] = [];
  for await (const { id, spec, closure } of allLaunchPlans(work, place)) {
    if (id === undefined || spec === undefined) continue;
    const register = () => work.to.admin.createLaunchPlan({ id, spec });
    registrations.push({ kind: "launch plan", id, madeAt: at(closure?.createdAt), register });
  }
  return registrations;
}

/** Activates the launch plans that are active in the source, as configured: their schedules begin to fire. */
export async function activateLaunchPlans(work: Import, place: Place): Promise<void> {
  const { to, config, report } = work;
  if (config.activate === "none") return;
  for await (const { id, spec, closure } of allLaunchPlans(work, place)) {
    if (id === undefined || closure?.state !== LaunchPlanState.ACTIVE) continue;
    const schedule = spec?.entityMetadata?.schedule?.ScheduleExpression;
    if (schedule?.case !== undefined && config.activate === "unscheduled") {
      report.skip({
        kind: "activation",
        what: nameOf(id),
        why: "it has a schedule: repeat with --activate all when the source has been stopped",
      });
      continue;
    }
    try {
      await patiently(() => to.admin.updateLaunchPlan({ id, state: LaunchPlanState.ACTIVE }));
      report.note("activation", "imported");
    } catch (error) {
      report.skip({ kind: "activation", what: nameOf(id), why: refusalOf(error) });
    }
  }
}
