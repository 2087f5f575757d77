import { textAt } from "../object/model.js";
import { STORAGE } from "../api/type/built-in-types.js";
import type { ApiContext } from "../api/context.js";

/** Removes events older than `ttlMs`. @returns their number */
export function expireEvents({ store, now }: ApiContext, ttlMs: number): number {
  const limit = now() - ttlMs;
  let removed = 0;
  for (const { object } of store.list(STORAGE.events)) {
    const seen =
      textAt(object, "series", "lastObservedTime") ??
      textAt(object, "lastTimestamp") ??
      textAt(object, "eventTime") ??
      object.metadata.creationTimestamp;
    if (seen !== undefined && Date.parse(seen) >= limit) continue;
    store.remove({ resource: STORAGE.events, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
    removed++;
  }
  return removed;
}
