import { type KubeObject, isObject, withMeta } from "./object/model.js";
import { STORAGE } from "./api/type/built-in-types.js";
import type { ApiContext } from "./api/context.js";
import { isDone } from "./api/verb/update.js";
import type { Lookup } from "./kubelet/container/environment.js";
import { dataOf } from "./kubelet/pod/object-data.js";
import type { PodSource } from "./kubelet/pod/pod-source.js";

/** Provides the pods of the store in this process. */
export function storePodSource(context: ApiContext): PodSource {
  const { store } = context;
  const placeOf = ({ metadata: { namespace = "", name } }: KubeObject) => ({ resource: STORAGE.pods, namespace, name });
  return {
    now: context.now,
    newUid: context.newUid,
    get: (namespace, name) => store.get({ resource: STORAGE.pods, namespace, name })?.object,
    list: () => store.list(STORAGE.pods).map(({ object }) => object),
    subscribe: (listener) => store.subscribe(STORAGE.pods, ({ type, stored }) => listener({ type, pod: stored.object })),
    writeStatus: (pod, status) => void store.put(STORAGE.pods, { ...pod, status }),
    bind: (pod, { nodeName, status }) => {
      const spec = isObject(pod["spec"]) ? pod["spec"] : {};
      store.put(STORAGE.pods, { ...pod, spec: { ...spec, nodeName }, status });
    },
    release: (pod) => {
      const ready = withMeta(pod, { deletionGracePeriodSeconds: 0 });
      if (isDone(ready)) store.remove(placeOf(pod));
      else store.put(STORAGE.pods, ready);
    },
    lookup: (namespace) => storeLookup(context, namespace),
    writeEvent: (event) => {
      const name = event.metadata.namespace ?? "";
      const namespace = store.get({ resource: STORAGE.namespaces, namespace: "", name })?.object;
      // A deleted namespace accepts no new objects.
      if (namespace === undefined || namespace.metadata.deletionTimestamp !== undefined) return;
      store.put(STORAGE.events, event);
    },
  };
}

function storeLookup({ store }: ApiContext, namespace: string): Lookup {
  return (kind, name) => {
    const resource = kind === "Secret" ? STORAGE.secrets : STORAGE.configMaps;
    const object = store.get({ resource, namespace, name })?.object;
    return object === undefined ? undefined : dataOf(kind, object);
  };
}
