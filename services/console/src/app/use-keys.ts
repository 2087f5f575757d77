import { useEffect } from "react";
import { useApp } from "./app.js";
import type { KeyAct, KeyMap } from "../keys/key-map.js";

/** Adds acts while the component is shown. */
export function useKeys(acts: readonly KeyAct[]): void {
  const { keys } = useApp();
  useEffect(() => keys.add(acts), [keys, acts]);
}

/** Passes the keys of the window to a map. Returns the end of it. */
export function listenToKeys(map: KeyMap, now: () => number): () => void {
  const pressed = (event: KeyboardEvent): void => {
    const mod = event.metaKey || event.ctrlKey;
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    if (map.press({ key: event.key, mod, typing: isTyping(event.target), timeMs: now() })) event.preventDefault();
  };
  window.addEventListener("keydown", pressed);
  return () => window.removeEventListener("keydown", pressed);
}

const TEXT_INPUTS = "input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable], [role=dialog], [role=menu]";

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(TEXT_INPUTS) !== null;
}
