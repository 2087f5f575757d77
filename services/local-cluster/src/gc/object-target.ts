import { type KubeObject, withMeta } from "../object/model.js";
import { ApiError } from "../api/api-error.js";
import type { ApiContext, NamedTarget } from "../api/context.js";
import { applyDelete } from "../api/verb/delete.js";
import { isDone } from "../api/verb/update.js";

/** Returns the object as target of API verbs; undefined when its kind is no longer served. */
function targetOf(context: ApiContext, resource: string, { metadata }: KubeObject): NamedTarget | undefined {
  const type = context.types.all().find((t) => t.storage === resource && t.view === undefined);
  return type === undefined ? undefined : { type, namespace: metadata.namespace, name: metadata.name, subresource: undefined };
}

/** Deletes an object unless it is gone or being deleted. */
export function deleteObject(
  context: ApiContext,
  resource: string,
  { object, policy }: { object: KubeObject; policy?: "Foreground" | "Background" },
): void {
  const target = targetOf(context, resource, object);
  const present = context.store.get({ resource, namespace: object.metadata.namespace ?? "", name: object.metadata.name })?.object;
  if (target === undefined || present === undefined || present.metadata.uid !== object.metadata.uid) return;
  if (present.metadata.deletionTimestamp !== undefined) return;
  try {
    applyDelete(context, target, { uid: object.metadata.uid, propagationPolicy: policy });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
}

/** Stores a changed object, or removes it when its deletion is complete. */
export function putOrRemove({ store }: ApiContext, resource: string, object: KubeObject): void {
  if (isDone(object)) store.remove({ resource, namespace: object.metadata.namespace ?? "", name: object.metadata.name });
  else store.put(resource, object);
}

export function withoutFinalizer(object: KubeObject, finalizer: string): KubeObject {
  const left = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
  return withMeta(object, { finalizers: left.length === 0 ? undefined : left } as Partial<KubeObject["metadata"]>);
}
