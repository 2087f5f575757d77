import type { FlyteClient } from "@flyte-ts/client";
import type { ListedEntity } from "@flyte-ts/runtime/describe";
import type { Project } from "../project/project.js";

/** Entities in a page of a list. */
const PAGE = 1_000;

/** Kinds of the entities of a project that a server registers. */
type RegisteredKind = Exclude<ListedEntity["kind"], "reference">;

/** True when the server has all these entities with this version: then it has their bundle, too. */
export async function isRegistered(
  client: FlyteClient,
  project: Project,
  { entities, version }: { readonly entities: readonly ListedEntity[]; readonly version: string },
): Promise<boolean> {
  const wanted = Map.groupBy(
    entities.filter(({ kind }) => kind !== "reference"),
    ({ kind }) => kind as RegisteredKind,
  );
  const found = await Promise.all(
    [...wanted].map(async ([kind, ofKind]) => {
      const names = await registeredNames(client, project, { kind, version });
      return ofKind.every(({ name }) => names.has(name));
    }),
  );
  return found.every(Boolean);
}

/** Lists the names with a version: one request in place of one for each entity. */
async function registeredNames(
  { admin }: FlyteClient,
  { project, domain }: Project,
  { kind, version }: { readonly kind: RegisteredKind; readonly version: string },
): Promise<ReadonlySet<string>> {
  const names = new Set<string>();
  for (let token = ""; ; ) {
    const request = { id: { project, domain }, limit: PAGE, token, filters: `eq(version,${version})` };
    const list = {
      task: async () => idsOf(await admin.listTasks(request), ({ tasks }) => tasks),
      workflow: async () => idsOf(await admin.listWorkflows(request), ({ workflows }) => workflows),
      launchplan: async () => idsOf(await admin.listLaunchPlans(request), ({ launchPlans }) => launchPlans),
    }[kind];
    const page = await list();
    for (const id of page.ids) if (id?.version === version) names.add(id.name);
    if (page.token === "" || page.ids.length === 0) return names;
    token = page.token;
  }
}

interface Identified {
  readonly id?: { readonly name: string; readonly version: string } | undefined;
}

const idsOf = <Page extends { readonly token: string }>(page: Page, rowsOf: (page: Page) => readonly Identified[]) => ({
  ids: rowsOf(page).map(({ id }) => id),
  token: page.token,
});
