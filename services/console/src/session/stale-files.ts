const KEY = "flyte-ts.reloaded-at";
/** A second failure within this time has another cause than an upgrade of the server. */
const AGAIN_MS = 60_000;

/**
 * Reloads the page when a file of its version is gone, as after an upgrade of the server. Returns
 * false when that has just been done.
 */
export function reloadOnce(storage: Pick<Storage, "getItem" | "setItem">, nowMs: number, reload: () => void): boolean {
  if (nowMs - Number(storage.getItem(KEY) ?? 0) < AGAIN_MS) return false;
  storage.setItem(KEY, String(nowMs));
  reload();
  return true;
}
