import { textAt } from "../object/model.js";
import { STORAGE } from "../api/type/built-in-types.js";
import type { ApiContext } from "../api/context.js";
import { CRD_CLEANUP } from "../api/verb/delete.js";
import { deleteObject, putOrRemove, withoutFinalizer } from "./object-target.js";
import { KeyedTaskQueue } from "./keyed-task-queue.js";

/** Deletes the custom resources of a deleted definition, then removes its finalizer. */
export class DefinitionController {
  readonly #context: ApiContext;
  readonly #queue: KeyedTaskQueue;
  readonly #unsubscribe: () => void;

  constructor(context: ApiContext, onError: (error: unknown) => void) {
    this.#context = context;
    this.#queue = new KeyedTaskQueue(onError);
    this.#enqueueAll();
    this.#unsubscribe = context.store.subscribeAll(({ type, resource }) => {
      if (resource === STORAGE.definitions || (type === "DELETED" && this.#hasDeletedDefinition())) this.#enqueueAll();
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#queue.close();
  }

  #hasDeletedDefinition(): boolean {
    return this.#context.store.list(STORAGE.definitions).some(({ object }) => object.metadata.deletionTimestamp !== undefined);
  }

  #enqueueAll(): void {
    for (const { object } of this.#context.store.list(STORAGE.definitions)) {
      if (object.metadata.deletionTimestamp !== undefined)
        this.#queue.add(object.metadata.name, () => this.#deleteResources(object.metadata.name));
    }
  }

  #deleteResources(name: string): void {
    const { store } = this.#context;
    const definition = store.get({ resource: STORAGE.definitions, namespace: "", name })?.object;
    if (definition?.metadata.finalizers?.includes(CRD_CLEANUP) !== true) return;
    const resource = `${textAt(definition, "spec", "group")}/${textAt(definition, "spec", "names", "plural")}`;
    for (const { object } of store.list(resource)) deleteObject(this.#context, resource, { object });
    if (store.list(resource).length === 0) putOrRemove(this.#context, STORAGE.definitions, withoutFinalizer(definition, CRD_CLEANUP));
  }
}
