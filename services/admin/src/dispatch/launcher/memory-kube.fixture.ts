import { type DeleteOptions, KubeError, type KubeObject, type ObjectName, type ResourceRef } from "@flyte-ts/kubernetes";
import type { LaunchKube } from "../../clusters/kube/cluster.js";

/** A data plane that only stores objects; it can be unavailable, and it can reject them. */
export class MemoryKube implements LaunchKube {
  readonly objects = new Map<string, KubeObject & Record<string, unknown>>();
  readonly namespaces = new Set<string>();
  creates = 0;
  #uids = 0;
  down = false;
  refuse: ((object: KubeObject) => KubeError | undefined) | undefined;

  async create<T extends KubeObject>(ref: ResourceRef, object: KubeObject): Promise<T> {
    this.#answer();
    const { namespace = "", name } = object.metadata;
    if (ref.plural === "namespaces") {
      if (this.namespaces.has(name)) throw new KubeError("", { status: 409, reason: "AlreadyExists" });
      this.namespaces.add(name);
      return object as T;
    }
    this.creates++;
    const refusal = this.refuse?.(object);
    if (refusal !== undefined) throw refusal;
    if (!this.namespaces.has(namespace)) throw new KubeError("no namespace", { status: 404, reason: "NotFound" });
    if (this.objects.has(`${namespace}/${name}`)) throw new KubeError("", { status: 409, reason: "AlreadyExists" });
    const created = structuredClone(object) as KubeObject & Record<string, unknown>;
    created.metadata.uid = `uid-${++this.#uids}`;
    this.objects.set(`${namespace}/${name}`, created);
    return object as T;
  }

  async get<T extends KubeObject>(_: ResourceRef, { namespace, name }: ObjectName): Promise<T | undefined> {
    this.#answer();
    return this.objects.get(`${namespace}/${name}`) as T | undefined;
  }

  async delete(_: ResourceRef, { namespace, name, uid }: DeleteOptions): Promise<boolean> {
    this.#answer();
    const object = this.objects.get(`${namespace}/${name}`);
    if (object === undefined) return false;
    if (uid !== undefined && object.metadata.uid !== uid) throw new KubeError("the UID differs", { status: 409, reason: "Conflict" });
    if ((object.metadata.finalizers ?? []).length === 0) this.objects.delete(`${namespace}/${name}`);
    else object.metadata.deletionTimestamp = "2026-01-01T00:00:00Z";
    return true;
  }

  #answer(): void {
    if (this.down) throw new KubeError("connection refused", { status: 0 });
  }
}
