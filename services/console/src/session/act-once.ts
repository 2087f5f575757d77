/** A second cause within this time is another one than an upgrade of the server or a sign-in. */
const AGAIN_MS = 60_000;

/**
 * Acts unless it has acted for the same key in the last minute, also before the page was loaded
 * again. Returns true when it has acted.
 *
 * @param key name of the act in the tab's storage
 */
export function actOnce(
  storage: Pick<Storage, "getItem" | "setItem">,
  { key, nowMs }: { readonly key: string; readonly nowMs: number },
  act: () => void,
): boolean {
  const stored = `flyte-ts.${key}-at`;
  if (nowMs - Number(storage.getItem(stored) ?? 0) < AGAIN_MS) return false;
  storage.setItem(stored, String(nowMs));
  act();
  return true;
}
