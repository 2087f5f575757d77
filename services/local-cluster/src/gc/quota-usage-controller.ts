import { equalJson } from "../object/merge-patch.js";
import { STORAGE } from "../api/type/built-in-types.js";
import type { ApiContext } from "../api/context.js";
import { quotaStatus } from "../api/pod/quota.js";

/** Debounce interval, ms. */
const DEBOUNCE_MS = 100;

/** Updates the `used` amounts of quotas for readers; admission computes its own. */
export class QuotaUsageController {
  readonly #context: ApiContext;
  readonly #dirty = new Set<string>();
  readonly #unsubscribe: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: ApiContext) {
    this.#context = context;
    this.#unsubscribe = context.store.subscribeAll(({ resource, stored }) => {
      const { namespace } = stored.object.metadata;
      if (namespace === undefined || resource === STORAGE.events || !this.#hasQuota(namespace)) return;
      this.#dirty.add(namespace);
      this.#timer ??= setTimeout(() => this.#count(), DEBOUNCE_MS);
    });
  }

  close(): void {
    this.#unsubscribe();
    clearTimeout(this.#timer);
  }

  #hasQuota(namespace: string): boolean {
    for (const _ of this.#context.store.within(STORAGE.quotas, namespace)) return true;
    return false;
  }

  #count(): void {
    this.#timer = undefined;
    const { store } = this.#context;
    const quotas = [...this.#dirty].flatMap((namespace) => [...store.within(STORAGE.quotas, namespace)]);
    this.#dirty.clear();
    for (const { object } of quotas) {
      const status = quotaStatus(store, object);
      if (!equalJson(object["status"], status)) store.put(STORAGE.quotas, { ...object, status });
    }
  }
}
