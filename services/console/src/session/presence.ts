import { createStore } from "./store.js";

/** Tells when a person begins to use the page. */
export interface Presence {
  /** True from the first movement of a pointer, key or focus on. */
  isUsed(): boolean;
  subscribe(listener: () => void): () => void;
}

const SIGNS = ["pointermove", "pointerdown", "keydown", "focusin"] as const;

export function createPresence(target: Pick<EventTarget, "addEventListener" | "removeEventListener">): Presence {
  const isUsed = createStore(false);
  const use = (): void => {
    for (const sign of SIGNS) target.removeEventListener(sign, use);
    isUsed.set(true);
  };
  for (const sign of SIGNS) target.addEventListener(sign, use);
  return { isUsed: isUsed.get, subscribe: isUsed.subscribe };
}
