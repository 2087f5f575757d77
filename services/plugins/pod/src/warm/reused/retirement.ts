/** Reason for which a reused pod serves no further attempt. */
export type Retirement = "attempts" | "age" | "processes" | "files" | "memory" | "limits" | "confinement" | "stopped" | "lost";

/** Beginnings of the texts of supervisors. */
const REASONS: readonly (readonly [string, Retirement])[] = [
  ["the pod has served its number", "attempts"],
  ["the pod has reached its age", "age"],
  ["the attempt left processes", "processes"],
  ["the attempt left", "files"],
  ["too many files", "files"],
  ["the memory of the pod", "memory"],
  ["the attempt changed limits", "limits"],
  ["attempts cannot be separated", "confinement"],
  ["the pod is stopped", "stopped"],
];

/** Classifies the text of a supervisor; undefined: the pod ended without one. */
export function retirementOf(text: string | undefined): Retirement {
  return REASONS.find(([beginning]) => text?.startsWith(beginning))?.[1] ?? "lost";
}
