import { type KubeObject, isObject } from "../object/model.js";
import type { StoreEvent } from "../store/history.js";
import { STORAGE } from "../api/type/built-in-types.js";
import type { ApiContext } from "../api/context.js";
import { create } from "../api/verb/create.js";
import { deleteObject, putOrRemove } from "./object-target.js";
import { KeyedTaskQueue } from "./keyed-task-queue.js";

/**
 * Creates the default service account of new namespaces, and deletes the contents of deleted ones.
 */
export class NamespaceController {
  readonly #context: ApiContext;
  readonly #queue: KeyedTaskQueue;
  readonly #onError: (error: unknown) => void;
  readonly #unsubscribe: () => void;

  constructor(context: ApiContext, onError: (error: unknown) => void) {
    this.#context = context;
    this.#onError = onError;
    this.#queue = new KeyedTaskQueue(onError);
    for (const { object } of context.store.list(STORAGE.namespaces)) this.#enqueue(object);
    this.#unsubscribe = context.store.subscribeAll((event) => this.#onEvent(event));
  }

  close(): void {
    this.#unsubscribe();
    this.#queue.close();
  }

  #onEvent({ type, resource, stored }: StoreEvent): void {
    if (resource === STORAGE.namespaces && type !== "DELETED") this.#enqueue(stored.object);
    const { namespace } = stored.object.metadata;
    if (type !== "DELETED" || namespace === undefined) return;
    const found = this.#context.store.get({ resource: STORAGE.namespaces, namespace: "", name: namespace });
    if (found?.object.metadata.deletionTimestamp !== undefined) this.#enqueue(found.object);
  }

  #enqueue({ metadata }: KubeObject): void {
    this.#queue.add(metadata.name, () => {
      const found = this.#context.store.get({ resource: STORAGE.namespaces, namespace: "", name: metadata.name })?.object;
      if (found === undefined) return;
      if (found.metadata.deletionTimestamp === undefined) this.#createDefaults(found.metadata.name);
      else this.#deleteContents(found);
    });
  }

  #createDefaults(namespace: string): void {
    const type = this.#context.types.find("", "v1", "serviceaccounts");
    if (type === undefined || this.#context.store.get({ resource: type.storage, namespace, name: "default" }) !== undefined) return;
    const target = { type, namespace, name: undefined, subresource: undefined };
    create(this.#context, target, { body: { metadata: { name: "default" } }, dryRun: false, bytes: 0 }).catch(this.#onError);
  }

  #deleteContents(namespace: KubeObject): void {
    const { name } = namespace.metadata;
    let left = 0;
    for (const resource of this.#context.store.resources()) {
      for (const { object } of this.#context.store.within(resource, name)) {
        left++;
        deleteObject(this.#context, resource, { object, policy: "Background" });
      }
    }
    // Each removal triggers another pass; wait while objects with finalizers remain.
    const held = left > 0 && [...this.#context.store.resources()].some((resource) => !isEmpty(this.#context.store.within(resource, name)));
    if (held) return;
    putOrRemove(this.#context, STORAGE.namespaces, {
      ...namespace,
      spec: { ...(isObject(namespace["spec"]) ? namespace["spec"] : {}), finalizers: [] },
    });
  }
}

function isEmpty(items: Iterable<unknown>): boolean {
  for (const _ of items) return false;
  return true;
}
