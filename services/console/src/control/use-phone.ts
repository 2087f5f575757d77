import { useSyncExternalStore } from "react";

/** Narrower windows have cards instead of rows, and a bar at the bottom. */
const PHONE = "(width < 760px)";

export function useIsPhone(): boolean {
  return useSyncExternalStore(subscribe, () => matchMedia(PHONE).matches);
}

function subscribe(changed: () => void): () => void {
  const query = matchMedia(PHONE);
  query.addEventListener("change", changed);
  return () => query.removeEventListener("change", changed);
}
