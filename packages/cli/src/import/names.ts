import { NamedEntityState } from "@flyte-ts/idl/flyteidl/admin/common_pb";
import { ResourceType } from "@flyte-ts/idl/flyteidl/core/identifier_pb";
import { allOf, patiently, refusalOf } from "./calls.js";
import type { Import, Place } from "./run.js";

const KINDS = [ResourceType.TASK, ResourceType.WORKFLOW, ResourceType.LAUNCH_PLAN] as const;
const EVERY_STATE = `value_in(state,${NamedEntityState.NAMED_ENTITY_ACTIVE};${NamedEntityState.NAMED_ENTITY_ARCHIVED};${NamedEntityState.SYSTEM_GENERATED})`;

/** Imports descriptions and states of names. */
export async function importNames({ from, to, report }: Import, { project, domain }: Place): Promise<void> {
  for (const resourceType of KINDS) {
    const listed = allOf(
      (page) => from.admin.listNamedEntities({ resourceType, project, domain, ...page, filters: EVERY_STATE }),
      (answer) => answer.entities,
    );
    for await (const { id, metadata } of listed) {
      if (id === undefined || metadata === undefined) continue;
      // Default metadata of a name.
      if (metadata.description === "" && metadata.state === NamedEntityState.NAMED_ENTITY_ACTIVE) continue;
      try {
        await patiently(() => to.admin.updateNamedEntity({ resourceType, id, metadata }));
        report.note("name", "imported");
      } catch (error) {
        report.skip({ kind: "name", what: `${ResourceType[resourceType]} ${project}/${domain}/${id.name}`, why: refusalOf(error) });
      }
    }
  }
}
