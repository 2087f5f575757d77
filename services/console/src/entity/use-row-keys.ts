import { useState } from "react";
import { useKeys } from "../app/use-keys.js";

/** Moves through the rows of a list by `j` and `k`. Returns the index of the current row. */
export function useRowKeys(count: number): number | undefined {
  const [current, setCurrent] = useState<number>();
  const move = (step: number): void => setCurrent(Math.max(0, Math.min(count - 1, (current ?? -1) + step)));
  useKeys([
    { keys: "j", label: "Next", group: "List", run: () => move(1) },
    { keys: "k", label: "Previous", group: "List", run: () => move(-1) },
  ]);
  return current !== undefined && current < count ? current : undefined;
}
