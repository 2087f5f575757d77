import { Code, type FlyteClient, RpcError } from "@flyte-ts/client";
import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ListedEntity } from "@flyte-ts/runtime/describe";
import type { Project } from "../project/project.js";
import { RESOURCE_TYPES } from "./references.js";

/**
 * True when the server has all these entities with this version: then it has their bundle, too.
 * The launch plans of the names of workflows are created last.
 */
export async function isRegistered(
  { admin }: FlyteClient,
  { project, domain }: Project,
  { entities, version }: { readonly entities: readonly ListedEntity[]; readonly version: string },
): Promise<boolean> {
  const found = await Promise.all(
    entities.flatMap(createdWith).map(async ({ kind, name }) => {
      const id = { resourceType: RESOURCE_TYPES[kind] as ResourceType, project, domain, name, version };
      const lookup = {
        task: () => admin.getTask({ id }),
        workflow: () => admin.getWorkflow({ id }),
        launchplan: () => admin.getLaunchPlan({ id }),
      }[kind];
      return exists(lookup());
    }),
  );
  return found.every(Boolean);
}

interface Created {
  readonly kind: keyof typeof RESOURCE_TYPES;
  readonly name: string;
}

/** Lists an entity, and the launch plan of the name of its workflow. */
function createdWith({ kind, name, workflow }: ListedEntity): Created[] {
  switch (kind) {
    case "reference":
      return [];
    case "task":
      return [{ kind, name }];
    case "workflow":
      return [
        { kind, name },
        { kind: "launchplan", name },
      ];
    case "launchplan":
      return [{ kind, name }, ...(workflow === undefined ? [] : [{ kind, name: workflow }])];
  }
}

async function exists(lookup: Promise<unknown>): Promise<boolean> {
  try {
    await lookup;
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.NOT_FOUND) return false;
    throw error;
  }
}
