/** Facts of a malformed resource. */
export interface MalformedResource {
  /** Task types of its own task templates; at most `MAX_TASK_TYPES`. */
  readonly taskTypes: readonly string[];
  /** False when its status shows that nothing of it has started. */
  readonly maybeStarted: boolean;
}

const MAX_TASK_TYPES = 100;

/** Maximum length of a task type, characters: it is part of a message subject. */
export const MAX_TASK_TYPE_LENGTH = 256;

/** Reads the valid parts of a resource that `parseFlyteWorkflow` rejects. Never throws. */
export function readMalformed(json: unknown): MalformedResource {
  const { tasks, status } = toFields(json);
  const types = new Set<string>();
  for (const task of Object.values(toFields(tasks))) {
    const { type } = toFields(task);
    if (typeof type === "string" && type !== "" && type.length <= MAX_TASK_TYPE_LENGTH) types.add(type);
    if (types.size === MAX_TASK_TYPES) break;
  }
  return { taskTypes: [...types], maybeStarted: maybeStarted(status) };
}

function maybeStarted(status: unknown): boolean {
  if (status === undefined || status === null) return false;
  if (typeof status !== "object" || Array.isArray(status)) return true;
  return Object.entries(status).some(([key, value]) => key !== "phase" || value !== 0);
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
