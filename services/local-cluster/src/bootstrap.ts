import type { ApiContext } from "./api/context.js";
import { create } from "./api/verb/create.js";

/** Namespaces of every cluster. */
const NAMESPACES = ["default", "kube-node-lease", "kube-public", "kube-system"];

/** Creates the objects of a new cluster. */
export async function bootstrap(context: ApiContext): Promise<void> {
  const type = context.types.find("", "v1", "namespaces");
  if (type === undefined) return;
  for (const name of NAMESPACES) {
    if (context.store.get({ resource: type.storage, namespace: "", name }) !== undefined) continue;
    await create(
      context,
      { type, namespace: undefined, name: undefined, subresource: undefined },
      { body: { metadata: { name } }, dryRun: false, bytes: 0 },
    );
  }
}
