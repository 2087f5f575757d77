import { createStore } from "./store.js";

export interface Toast {
  readonly id: number;
  readonly kind: "ok" | "bad";
  readonly text: string;
  /** Address of the result within the console, such as a new execution. */
  readonly link?: { readonly text: string; readonly to: string } | undefined;
}

/** Results of actions, shown as toasts at the edge of the page. */
export interface ToastStore {
  get(): readonly Toast[];
  show(toast: Omit<Toast, "id">): void;
  dismiss(id: number): void;
  subscribe(listener: () => void): () => void;
}

const MAX_TOASTS = 4;
/** Failures stay until they are dismissed. */
const SHOWN_MS = 8_000;

export function createToastStore(): ToastStore {
  const { get, set, subscribe } = createStore<readonly Toast[]>([]);
  let lastId = 0;
  const dismiss = (id: number): void => set(get().filter((toast) => toast.id !== id));
  return {
    get,
    show(toast) {
      const id = ++lastId;
      set([...get(), { ...toast, id }].slice(-MAX_TOASTS));
      if (toast.kind === "ok") setTimeout(() => dismiss(id), SHOWN_MS);
    },
    dismiss,
    subscribe,
  };
}
