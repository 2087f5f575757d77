import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { paginate, retryWhileUnavailable, permanentErrorMessage } from "./admin-calls.js";
import type { ImportContext, ProjectDomain } from "./run-import.js";

const ENTITY_KINDS = [ResourceType.TASK, ResourceType.WORKFLOW, ResourceType.LAUNCH_PLAN] as const;
const ANY_STATE_FILTER = `value_in(state,${NamedEntityState.NAMED_ENTITY_ACTIVE};${NamedEntityState.NAMED_ENTITY_ARCHIVED};${NamedEntityState.SYSTEM_GENERATED})`;

/** Imports descriptions and states of names. */
export async function importNames({ from, to, report }: ImportContext, { project, domain }: ProjectDomain): Promise<void> {
  for (const resourceType of ENTITY_KINDS) {
    const listed = paginate(
      (page) => from.admin.listNamedEntities({ resourceType, project, domain, ...page, filters: ANY_STATE_FILTER }),
      (answer) => answer.entities,
    );
    for await (const { id, metadata } of listed) {
      if (id === undefined || metadata === undefined) continue;
      // Skip default metadata of a name.
      if (metadata.description === "" && metadata.state === NamedEntityState.NAMED_ENTITY_ACTIVE) continue;
      try {
        await retryWhileUnavailable(() => to.admin.updateNamedEntity({ resourceType, id, metadata }));
        report.record("name", "imported");
      } catch (error) {
        report.skip({
          kind: "name",
          what: `${ResourceType[resourceType]} ${project}/${domain}/${id.name}`,
          why: permanentErrorMessage(error),
        });
      }
    }
  }
}
