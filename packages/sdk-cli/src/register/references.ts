import { type FlyteClient } from "@flyte-ts/client";
import { Sort_Direction } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { OpenReference } from "../entities/messages.js";
import type { Project } from "../project/project.js";
import { ProjectError } from "../project/project-error.js";

/** Looks up the newest version of each reference, which the registration then keeps. */
export async function resolveReferences(
  client: FlyteClient,
  project: Project,
  references: readonly OpenReference[],
): Promise<Readonly<Record<string, string>>> {
  const resolved = await Promise.all(
    references.map(async (reference) => [reference.key, await newest(client, project, reference)] as const),
  );
  return Object.fromEntries(resolved.flatMap(([key, version]) => (version === undefined ? [] : [[key, version]])));
}

async function newest({ admin }: FlyteClient, scope: Project, reference: OpenReference): Promise<string | undefined> {
  const { project = scope.project, domain = scope.domain, name, kind, optional } = reference;
  const sortBy = { key: "created_at", direction: Sort_Direction.DESCENDING };
  const request = { id: { project, domain, name }, limit: 1, sortBy };
  const found = await {
    task: async () => (await admin.listTasks(request)).tasks[0]?.id,
    workflow: async () => (await admin.listWorkflows(request)).workflows[0]?.id,
    launchplan: async () => (await admin.listLaunchPlans(request)).launchPlans[0]?.id,
  }[kind]();
  if (found === undefined && !optional)
    throw new ProjectError(`the server has no ${kind} ${name} in ${project}/${domain}, to which the project refers`);
  return found?.version;
}

/** Type of resource of each kind of entity. */
export const RESOURCE_TYPES = {
  task: ResourceType.TASK,
  workflow: ResourceType.WORKFLOW,
  launchplan: ResourceType.LAUNCH_PLAN,
} as const;
