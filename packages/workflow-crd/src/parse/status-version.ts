import { STATUS_VERSION } from "../model/status.js";
import type { Field } from "./field.js";

/**
 * A newer build of propeller wrote the status, and this one must not act on it: the resource is
 * left to a newer build.
 */
export class StatusTooNewError extends Error {
  override readonly name = "StatusTooNewError";
}

/**
 * @param status `status` of the resource.
 * @throws StatusTooNewError when this build is too old to read it.
 */
export function checkStatusVersion(status: Field): void {
  if (status.isAbsent) return;
  const requires = status.at("requires");
  if (!requires.isAbsent && requires.nonNegativeInt() > STATUS_VERSION) throw statusTooNew(requires, STATUS_VERSION);
}

/** Checks a flyte-ts version that must match exactly; a newer build wrote a greater one. */
export function checkVersion(field: Field, known: number): void {
  if (field.value === known) return;
  if (Number.isSafeInteger(field.value) && (field.value as number) > known) throw statusTooNew(field, known);
  throw field.error(`must be ${known}, is ${JSON.stringify(field.value) ?? "absent"}`);
}

function statusTooNew(field: Field, known: number): StatusTooNewError {
  return new StatusTooNewError(
    `${field.path} is ${String(field.value)}: a newer version of propeller wrote it; this one reads up to ${known}`,
  );
}
