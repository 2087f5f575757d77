import { type KubeObject, type OwnerReference, withMeta } from "../object/model.js";
import type { StoreEvent } from "../store/history.js";
import type { ApiContext } from "../api/context.js";
import { FOREGROUND, ORPHAN } from "../api/verb/delete.js";
import { deleteObject, putOrRemove, withoutFinalizer } from "./object-target.js";
import { KeyedTaskQueue } from "./keyed-task-queue.js";

interface TrackedObject {
  readonly resource: string;
  readonly object: KubeObject;
}

/**
 * Collects garbage by owner references. Identifies owners by uid only: all objects are in one
 * store, so a missing uid means a deleted owner, and the spelling of the reference's kind does not
 * matter.
 */
export class GarbageCollector {
  readonly #context: ApiContext;
  readonly #queue: KeyedTaskQueue;
  readonly #objects = new Map<string, TrackedObject>();
  readonly #dependents = new Map<string, Set<string>>();
  readonly #unsubscribe: () => void;

  constructor(context: ApiContext, onError: (error: unknown) => void) {
    this.#context = context;
    this.#queue = new KeyedTaskQueue(onError);
    for (const { resource, stored } of context.store.values()) this.#track({ resource, object: stored.object });
    for (const uid of this.#objects.keys()) this.#enqueue(uid);
    this.#unsubscribe = context.store.subscribeAll((event) => this.#onEvent(event));
  }

  close(): void {
    this.#unsubscribe();
    this.#queue.close();
  }

  #onEvent({ type, resource, stored, previous }: StoreEvent): void {
    const { object } = stored;
    const uid = object.metadata.uid ?? "";
    for (const owner of previous?.object.metadata.ownerReferences ?? []) this.#forgetDependent(owner.uid, uid);
    if (type !== "DELETED") {
      this.#track({ resource, object });
      if (object.metadata.ownerReferences !== undefined || object.metadata.deletionTimestamp !== undefined) this.#enqueue(uid);
      return;
    }
    this.#objects.delete(uid);
    for (const dependent of this.#dependents.get(uid) ?? []) this.#enqueue(dependent);
    this.#dependents.delete(uid);
    // Rechecks owners that wait for the deletion of their dependents.
    for (const owner of object.metadata.ownerReferences ?? [])
      if (this.#objects.get(owner.uid)?.object.metadata.deletionTimestamp !== undefined) this.#enqueue(owner.uid);
  }

  /** Removes the set with its last member: an owner that is gone gets no further event. */
  #forgetDependent(owner: string, uid: string): void {
    const dependents = this.#dependents.get(owner);
    dependents?.delete(uid);
    if (dependents?.size === 0) this.#dependents.delete(owner);
  }

  #track(known: TrackedObject): void {
    const uid = known.object.metadata.uid ?? "";
    this.#objects.set(uid, known);
    for (const owner of known.object.metadata.ownerReferences ?? []) {
      let dependents = this.#dependents.get(owner.uid);
      if (dependents === undefined) this.#dependents.set(owner.uid, (dependents = new Set()));
      dependents.add(uid);
    }
  }

  #enqueue(uid: string): void {
    this.#queue.add(uid, () => {
      this.#deleteIfOrphaned(uid);
      this.#removeFinalizers(uid);
    });
  }

  /** Deletes an object without remaining owners; otherwise removes references to missing ones. */
  #deleteIfOrphaned(uid: string): void {
    const known = this.#present(uid);
    const owners = known?.object.metadata.ownerReferences ?? [];
    if (known === undefined || owners.length === 0) return;
    const living = owners.filter((owner) => this.#exists(owner, known.object));
    if (living.length === owners.length) {
      const waiting = owners.some((owner) => this.#waitsForDependents(owner.uid));
      if (waiting) deleteObject(this.#context, known.resource, { object: known.object, policy: "Foreground" });
    } else if (living.length === 0) deleteObject(this.#context, known.resource, { object: known.object, policy: "Background" });
    else this.#context.store.put(known.resource, withMeta(known.object, { ownerReferences: living }));
  }

  /**
   * Removes the finalizer of a deleted owner. `orphan`: after removing the dependents' references
   * to it. `foregroundDeletion`: when no dependent blocks the deletion any more.
   */
  #removeFinalizers(uid: string): void {
    const known = this.#present(uid);
    const { deletionTimestamp, finalizers = [] } = known?.object.metadata ?? {};
    if (known === undefined || deletionTimestamp === undefined) return;
    const dependents = [...(this.#dependents.get(uid) ?? [])].flatMap((dependent) => this.#present(dependent) ?? []);
    if (finalizers.includes(ORPHAN)) {
      for (const { resource, object } of dependents) {
        const left = (object.metadata.ownerReferences ?? []).filter((owner) => owner.uid !== uid);
        putOrRemove(
          this.#context,
          resource,
          withMeta(object, { ownerReferences: left.length === 0 ? undefined : left } as Partial<KubeObject["metadata"]>),
        );
      }
      putOrRemove(this.#context, known.resource, withoutFinalizer(known.object, ORPHAN));
    } else if (finalizers.includes(FOREGROUND)) {
      for (const { object } of dependents) if (object.metadata.deletionTimestamp === undefined) this.#enqueue(object.metadata.uid ?? "");
      const blocking = dependents.filter(({ object }) =>
        object.metadata.ownerReferences?.some((owner) => owner.uid === uid && owner.blockOwnerDeletion === true),
      );
      if (blocking.length === 0) putOrRemove(this.#context, known.resource, withoutFinalizer(known.object, FOREGROUND));
    }
  }

  #waitsForDependents(uid: string): boolean {
    const metadata = this.#objects.get(uid)?.object.metadata;
    return metadata?.deletionTimestamp !== undefined && metadata.finalizers?.includes(FOREGROUND) === true;
  }

  /** A namespaced owner counts only within its namespace. */
  #exists(owner: OwnerReference, dependent: KubeObject): boolean {
    const namespace = this.#objects.get(owner.uid)?.object.metadata.namespace;
    return this.#objects.has(owner.uid) && (namespace === undefined || namespace === dependent.metadata.namespace);
  }

  /** Returns the current object, which may be newer than the last event. */
  #present(uid: string): TrackedObject | undefined {
    const known = this.#objects.get(uid);
    if (known === undefined) return undefined;
    const { namespace = "", name } = known.object.metadata;
    const object = this.#context.store.get({ resource: known.resource, namespace, name })?.object;
    return object?.metadata.uid === uid ? { resource: known.resource, object } : undefined;
  }
}
