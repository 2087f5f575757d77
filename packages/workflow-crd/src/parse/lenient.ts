/** Facts of a malformed resource. */
export interface BrokenResource {
  /** Task types of its own task templates; at most `MOST_TASK_TYPES`. */
  readonly taskTypes: readonly string[];
  /** False when its status shows that nothing of it has started. */
  readonly mayHaveBegun: boolean;
}

const MOST_TASK_TYPES = 100;

/** Maximum length of a task type, characters: it is part of a message subject. */
export const LONGEST_TASK_TYPE = 256;

/** Reads the valid parts of a resource that `parseFlyteWorkflow` refuses. Never throws. */
export function readBroken(json: unknown): BrokenResource {
  const { tasks, status } = fieldsOf(json);
  const types = new Set<string>();
  for (const task of Object.values(fieldsOf(tasks))) {
    const { type } = fieldsOf(task);
    if (typeof type === "string" && type !== "" && type.length <= LONGEST_TASK_TYPE) types.add(type);
    if (types.size === MOST_TASK_TYPES) break;
  }
  return { taskTypes: [...types], mayHaveBegun: mayHaveBegun(status) };
}

function mayHaveBegun(status: unknown): boolean {
  if (status === undefined || status === null) return false;
  if (typeof status !== "object" || Array.isArray(status)) return true;
  return Object.entries(status).some(([key, value]) => key !== "phase" || value !== 0);
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
