/** Stands for the program of a task in the resources and requests that are compared. */
export const PROGRAM = "the task's program";

/**
 * Reduces a resource or request to what its kind decides. The task's command becomes `PROGRAM`;
 * labels, annotations and the variables of every Flyte task are left out, since the tests of pods
 * cover them.
 */
export function comparable(value: unknown): unknown {
  if (typeof value === "string") return value.includes("--output-prefix") ? PROGRAM : value;
  if (Array.isArray(value)) return value.includes("--output-prefix") ? PROGRAM : value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => name !== "labels" && name !== "annotations" && name !== "metadata");
  return Object.fromEntries(fields.map(([name, field]) => [name, name === "env" ? ownVariables(field) : comparable(field)]));
}

/** Names of the variables that the kind adds. */
function ownVariables(env: unknown): string[] {
  return (env as { readonly name: string }[]).map(({ name }) => name).filter((name) => !/^FLYTE_(INTERNAL_|ATTEMPT_)/.test(name));
}
