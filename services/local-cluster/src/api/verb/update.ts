import { equalJson, structuralShare } from "../../object/merge-patch.js";
import { type Json, type KubeObject, withMeta } from "../../object/model.js";
import { LARGE_BYTES, Stored } from "../../store/stored-object.js";
import { badRequest, conflict, invalid, MODIFIED_MESSAGE, notFound } from "../api-error.js";
import { STORAGE } from "../type/built-in-types.js";
import { type ApiContext, objectName, type NamedTarget, storeKey } from "../context.js";
import type { WriteOptions } from "./create.js";
import { invalidValue } from "../names.js";
import { defaultOnUpdate } from "./strategy.js";
import { checkObject, checkSize, readObject, waitUntilDurable } from "./write-checks.js";

/** Replaces an object (PUT). */
export async function update(context: ApiContext, target: NamedTarget, request: { body: unknown } & WriteOptions): Promise<Stored> {
  const next = readObject(request.body, target);
  const old = context.store.get(storeKey(target));
  if (old === undefined) throw notFound(objectName(target));
  if ((next.metadata.name ?? target.name) !== target.name) {
    throw badRequest(`the name of the object (${next.metadata.name}) does not match the name on the URL (${target.name})`);
  }
  if (!target.type.builtIn && !next.metadata.resourceVersion) {
    const causes = [invalidValue("metadata.resourceVersion", 0, "must be specified for an update")];
    throw invalid({ kind: target.type.kind, group: target.type.group, name: target.name, causes });
  }
  const shared = old.size > LARGE_BYTES ? structuralShare(old.object, next) : next;
  return waitUntilDurable(
    context,
    applyUpdate(context, target, { old, next: shared, estimate: request.bytes + 1024, dryRun: request.dryRun }),
  );
}

export interface Change {
  readonly old: Stored;
  /** State requested by the client, in stored form. */
  readonly next: KubeObject;
  /** Upper bound of the size of the new object, bytes. */
  readonly estimate: number;
  readonly dryRun: boolean;
}

/**
 * Validates a change against the current state and applies it synchronously, so that no other write
 * can intervene. Removes a deleted object when its last finalizer is removed.
 *
 * @throws ApiError Conflict when the client has seen another revision
 */
export function applyUpdate(context: ApiContext, target: NamedTarget, { old, next, estimate, dryRun }: Change): Stored {
  checkPreconditions(target, { old: old.object, next });
  checkFinalizers(target, { old: old.object, next });
  const preserved = preserveImmutableParts(target, { old: old.object, next });
  const prepared = defaultOnUpdate(context, target.type, preserved);
  const object = withGeneration(target, { old: old.object, next: prepared });
  checkObject(target.type, object, old.object);
  checkSize(context, object, estimate);
  if (dryRun) return new Stored(object, { revision: old.revision });
  if (isDone(object)) {
    const removed = context.store.remove(storeKey(target));
    if (removed === undefined) throw notFound(objectName(target));
    return new Stored(withMeta(object, { resourceVersion: String(removed.revision) }), { revision: removed.revision });
  }
  return context.store.put(target.type.storage, object);
}

function checkPreconditions(target: NamedTarget, { old, next }: { old: KubeObject; next: KubeObject }): void {
  const { uid, resourceVersion } = next.metadata;
  if (uid !== undefined && uid !== "" && uid !== old.metadata.uid) {
    throw conflict(objectName(target), `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`);
  }
  if (resourceVersion !== undefined && resourceVersion !== "" && resourceVersion !== old.metadata.resourceVersion)
    throw conflict(objectName(target), MODIFIED_MESSAGE);
}

/** A deleted object may lose finalizers but gain none. */
function checkFinalizers({ type, subresource, name }: NamedTarget, { old, next }: { old: KubeObject; next: KubeObject }): void {
  if (old.metadata.deletionTimestamp === undefined || subresource !== undefined) return;
  const known = new Set(old.metadata.finalizers);
  const added = (next.metadata.finalizers ?? []).filter((finalizer) => !known.has(finalizer));
  if (added.length === 0) return;
  const message = `Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{${added.map((finalizer) => JSON.stringify(finalizer)).join(", ")}}`;
  throw invalid({
    kind: type.kind,
    group: type.group,
    name,
    causes: [{ reason: "FieldValueForbidden", message, field: "metadata.finalizers" }],
  });
}

/** Restores fields that a write to this (sub)resource must not change. */
function preserveImmutableParts(target: NamedTarget, { old, next }: { old: KubeObject; next: KubeObject }): KubeObject {
  const { type, subresource } = target;
  if (subresource === "status") return withStatus(old, next["status"]);
  if (subresource === "finalize") return { ...old, spec: next["spec"] };
  const { uid, creationTimestamp, deletionTimestamp, deletionGracePeriodSeconds, generation, generateName } = old.metadata;
  const kept = withMeta(next, {
    name: target.name,
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    generateName,
  } as Partial<KubeObject["metadata"]>);
  const { finalizers } = kept.metadata;
  const ordered = withMeta(kept, { finalizers: finalizers?.length === 0 ? undefined : finalizers } as Partial<KubeObject["metadata"]>);
  return type.statusSubresource ? withStatus(ordered, old["status"]) : ordered;
}

function withStatus(object: KubeObject, status: Json | undefined): KubeObject {
  const { status: _, ...rest } = object;
  return (status === undefined ? rest : { ...rest, status }) as KubeObject;
}

/**
 * Increments `generation` when the desired state changes; with a status subresource the status does
 * not count.
 */
function withGeneration({ type, subresource }: NamedTarget, { old, next }: { old: KubeObject; next: KubeObject }): KubeObject {
  const { generation } = old.metadata;
  if (generation === undefined || subresource !== undefined) return next;
  const bump = type.storage === STORAGE.pods ? !equalJson(old["spec"], next["spec"]) : changed(old, next, type.statusSubresource);
  return bump ? withMeta(next, { generation: generation + 1 }) : next;
}

function changed(old: KubeObject, next: KubeObject, ignoreStatus: boolean): boolean {
  const keys = new Set([...Object.keys(old), ...Object.keys(next)]);
  for (const key of keys) {
    if (key === "metadata" || (ignoreStatus && key === "status")) continue;
    if (!equalJson(old[key], next[key])) return true;
  }
  return false;
}

/** True when neither finalizers nor a grace period keep a deleted object. */
export function isDone(object: KubeObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds = 0, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined || finalizers.length > 0 || deletionGracePeriodSeconds > 0) return false;
  const held = object.kind === "Namespace" && Array.isArray((object["spec"] as { finalizers?: unknown } | undefined)?.finalizers);
  return !held || (object["spec"] as { finalizers: readonly unknown[] }).finalizers.length === 0;
}
