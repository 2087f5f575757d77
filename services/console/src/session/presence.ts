/** Tells when a person begins to use the page. */
export interface Presence {
  /** True from the first movement of a pointer, key or focus on. */
  isUsed(): boolean;
  subscribe(listener: () => void): () => void;
}

const SIGNS = ["pointermove", "pointerdown", "keydown", "focusin"] as const;

export function createPresence(target: Pick<EventTarget, "addEventListener" | "removeEventListener">): Presence {
  const listeners = new Set<() => void>();
  let isUsed = false;
  const use = (): void => {
    isUsed = true;
    for (const sign of SIGNS) target.removeEventListener(sign, use);
    for (const listener of listeners) listener();
  };
  for (const sign of SIGNS) target.addEventListener(sign, use);
  return {
    isUsed: () => isUsed,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
