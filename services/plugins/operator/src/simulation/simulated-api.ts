import type { ManualTime } from "@flyte-ts/async/manual-time";
import {
  type DeleteOptions,
  type KubeApplier,
  type KubeClient,
  KubeError,
  type KubeList,
  type KubeObject,
  type ListOptions,
  type ObjectName,
  type PatchOptions,
  type ResourceRef,
  type WatchEvent,
  type WatchOptions,
} from "@flyte-ts/kubernetes";
import type { JobFault } from "@flyte-ts/task-plugin/harness";
import { createWatchHub } from "./watch-hub.js";

/** Time that a deletion takes, ms. */
const DELETION_MS = 1_000;
/** Times after which late creations take place, ms: in turn before and after a deletion's end. */
const LATE_MS = [900, 2_500];
/** Time after which an operator starts to work on a new resource, ms. */
const START_MS = 300;

/**
 * A Kubernetes API without controllers, which outlives the plugin's processes. Deleting an object
 * deletes those that it owns first.
 */
export class SimulatedApi implements KubeClient, Pick<KubeApplier, "findResource"> {
  readonly objects = new Map<string, KubeObject>();
  /** Plural names that the API does not serve. */
  readonly unserved = new Set<string>();
  /** Number of creations of the object with this key. */
  readonly creations = new Map<string, number>();
  /** Uids of the objects of each key that an operator has begun to work on. */
  readonly #started = new Map<string, Set<string | undefined>>();
  #lateCreations = 0;
  /** Number of calls beside those of watches, by verb. */
  readonly calls = new Map<string, number>();
  /** Faults of the next creations and deletions, once each. */
  readonly faults: JobFault[] = [];
  /** Errors thrown instead of creating, once each. */
  readonly createErrors: KubeError[] = [];
  /** Refuses every call as if the server were unreachable. */
  unavailable = false;
  readonly #hub = createWatchHub();
  #version = 1;

  constructor(private readonly clock: () => ManualTime | undefined) {}

  /** The object of the key `plural/namespace/name`. */
  at(key: string): KubeObject | undefined {
    return this.objects.get(key);
  }

  /** Number of objects of all keys that an operator has worked on. */
  get totalStarts(): number {
    return [...this.#started.values()].reduce((sum, uids) => sum + uids.size, 0);
  }

  /** Number of objects of this key that an operator has worked on, or is about to. */
  startCount(key: string): number {
    const { uid, deletionTimestamp } = this.objects.get(key)?.metadata ?? {};
    const started = new Set(this.#started.get(key));
    if (uid !== undefined && deletionTimestamp === undefined) started.add(uid);
    return started.size;
  }

  /** Adds or replaces an object, as a controller does. */
  put<T extends KubeObject>(plural: string, object: T): T {
    const key = keyOf(plural, object.metadata);
    const type = this.objects.has(key) ? "MODIFIED" : "ADDED";
    const metadata = {
      uid: `uid-${this.#version}`,
      creationTimestamp: this.#timestamp(),
      ...object.metadata,
      resourceVersion: String(++this.#version),
    };
    const stamped = { ...object, metadata };
    this.objects.set(key, stamped);
    this.#hub.notify(plural, { type, object: stamped });
    return stamped;
  }

  /** Removes the object without a deletion request. */
  remove(key: string): void {
    const object = this.objects.get(key);
    if (object === undefined) return;
    this.objects.delete(key);
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) };
    this.#hub.notify(key.slice(0, key.indexOf("/")), { type: "DELETED", object: { ...object, metadata } });
  }

  /** Removes a kind with its objects, which no event tells. */
  vanish(plural: string): void {
    this.unserved.add(plural);
    for (const key of this.objects.keys()) if (key.startsWith(`${plural}/`)) this.objects.delete(key);
    this.#hub.end(plural);
  }

  get<T extends KubeObject>({ plural }: ResourceRef, name: ObjectName): Promise<T | undefined> {
    return this.#respond("get", () => this.objects.get(keyOf(plural, name)) as T | undefined);
  }

  list<T extends KubeObject>({ plural }: ResourceRef, { labelSelector }: ListOptions = {}): Promise<KubeList<T>> {
    return this.#respond("list", () => {
      if (this.unserved.has(plural)) throw new KubeError("the server could not find the requested resource", { status: 404 });
      const items = [...this.objects].filter(([key, object]) => key.startsWith(`${plural}/`) && isSelected(object, labelSelector));
      return { metadata: { resourceVersion: String(this.#version) }, items: items.map(([, object]) => object as T) };
    });
  }

  create<T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T> {
    return this.#respond("create", () => {
      const refused = this.createErrors.shift();
      if (refused !== undefined) throw refused;
      const fault = this.#takeFault("create");
      if (fault === "createRefused") throw new KubeError("too many requests", { status: 429 });
      if (fault === "createLate")
        this.clock()?.schedule(LATE_MS[this.#lateCreations++ % LATE_MS.length] ?? 0, () => this.#createIfAbsent(ref, object));
      if (fault === "createUnknown" || fault === "createDoubled") this.#createIfAbsent(ref, object);
      if (fault === "createUnknown" || fault === "createLate") throw new KubeError("request timed out", { status: 0 });
      return this.#create<T>(ref, object);
    });
  }

  #createIfAbsent(ref: ResourceRef, object: KubeObject): void {
    if (!this.objects.has(keyOf(ref.plural, object.metadata))) this.#create(ref, object);
  }

  #create<T extends KubeObject>({ plural }: ResourceRef, object: KubeObject): T {
    const key = keyOf(plural, object.metadata);
    if (this.objects.has(key)) throw new KubeError(`${key} already exists`, { status: 409, reason: "AlreadyExists" });
    this.creations.set(key, (this.creations.get(key) ?? 0) + 1);
    const created = this.put(plural, object) as T;
    this.clock()?.schedule(START_MS, () => this.#start(key, created.metadata.uid));
    return created;
  }

  #start(key: string, uid: string | undefined): void {
    const { metadata } = this.objects.get(key) ?? {};
    if (metadata?.uid !== uid || metadata?.deletionTimestamp !== undefined) return;
    this.#started.set(key, (this.#started.get(key) ?? new Set()).add(uid));
  }

  #takeFault(call: "create" | "delete"): JobFault | undefined {
    const index = this.faults.findIndex((fault) => fault.startsWith(call));
    return index < 0 ? undefined : this.faults.splice(index, 1)[0];
  }

  delete({ plural }: ResourceRef, { uid, ...name }: DeleteOptions): Promise<boolean> {
    return this.#respond("delete", () => {
      const key = keyOf(plural, name);
      const object = this.objects.get(key);
      if (object === undefined) return false;
      if (uid !== undefined && object.metadata.uid !== uid) throw new KubeError("uid differs", { status: 409, reason: "Conflict" });
      if (this.#takeFault("delete") === undefined) this.#startDeletion(key, object);
      return true;
    });
  }

  watch<T extends KubeObject>({ plural }: ResourceRef, { signal, labelSelector }: WatchOptions): AsyncGenerator<WatchEvent<T>> {
    if (this.unserved.has(plural)) throw new KubeError("the server could not find the requested resource", { status: 404 });
    return this.#hub.watch<T>(plural, { signal, isSelected: (object) => isSelected(object, labelSelector) });
  }

  findResource(apiVersion: string, kind: string): Promise<ResourceRef | undefined> {
    return this.#respond("discover", () => {
      const plural = `${kind.toLowerCase()}s`;
      if (this.unserved.has(plural)) return undefined;
      const [group = "", version = ""] = apiVersion.split("/");
      return { group, version, plural, namespaced: true };
    });
  }

  podLog(): never {
    throw new Error("pods without processes write nothing");
  }

  replace<T extends KubeObject>(): Promise<T> {
    return Promise.reject(new Error("not simulated"));
  }

  /** Replaces fields at the top level, such as `status`. */
  mergePatch<T extends KubeObject>({ plural }: ResourceRef, { namespace, name, body }: PatchOptions): Promise<T> {
    return this.#respond("patch", () => {
      const object = this.objects.get(keyOf(plural, { namespace, name }));
      if (object === undefined) throw new KubeError(`${name} not found`, { status: 404 });
      return this.put(plural, { ...object, ...body }) as T;
    });
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #startDeletion(key: string, object: KubeObject): void {
    if (object.metadata.deletionTimestamp !== undefined) return;
    const plural = key.slice(0, key.indexOf("/"));
    this.put(plural, { ...object, metadata: { ...object.metadata, deletionTimestamp: this.#timestamp() } });
    for (const [owned, { metadata }] of this.objects) {
      if (metadata.ownerReferences?.some(({ uid }) => uid === object.metadata.uid))
        this.#startDeletion(owned, { ...this.objects.get(owned), metadata });
    }
    this.clock()?.schedule(DELETION_MS, () => this.remove(key));
  }

  async #respond<T>(verb: string, act: () => T): Promise<T> {
    this.calls.set(verb, (this.calls.get(verb) ?? 0) + 1);
    await Promise.resolve();
    if (this.unavailable) throw new KubeError("connect ECONNREFUSED", { status: 0 });
    return act();
  }

  #timestamp(): string {
    const time = this.clock();
    return time === undefined ? "" : new Date(time.now()).toISOString();
  }
}

function keyOf(plural: string, { namespace, name }: { readonly namespace?: string | undefined; readonly name: string }): string {
  return `${plural}/${namespace}/${name}`;
}

/** In these tests, selectors are lists of label keys. */
function isSelected({ metadata }: KubeObject, selector: string | undefined): boolean {
  return selector === undefined || selector.split(",").every((key) => metadata.labels?.[key] !== undefined);
}
