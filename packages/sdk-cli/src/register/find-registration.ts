import { Code, type FlyteClient, RpcError } from "@flyte-ts/client";
import type { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import type { ListedEntity } from "@flyte-ts/runtime/describe";
import type { Project } from "../project/project.js";
import { RESOURCE_TYPES } from "./references.js";

/** True when the server has all these entities with this version: then it has their bundle, too. */
export async function isRegistered(
  { admin }: FlyteClient,
  { project, domain }: Project,
  { entities, version }: { readonly entities: readonly ListedEntity[]; readonly version: string },
): Promise<boolean> {
  const found = await Promise.all(
    entities.map(async ({ kind, name }) => {
      if (kind === "reference") return true;
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

async function exists(lookup: Promise<unknown>): Promise<boolean> {
  try {
    await lookup;
    return true;
  } catch (error) {
    if (error instanceof RpcError && error.code === Code.NOT_FOUND) return false;
    throw error;
  }
}
