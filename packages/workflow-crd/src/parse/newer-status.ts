import { STATUS_VERSION } from "../status.js";
import type { Field } from "./read.js";

/** A status that a newer build of propeller wrote, which this one must not act upon: the resource is left to a newer one. */
export class NewerStatusError extends Error {
  override readonly name = "NewerStatusError";
}

/**
 * @param status `status` of the resource.
 * @throws NewerStatusError when a reader must know more than this build does.
 */
export function checkStatusVersion(status: Field): void {
  if (status.absent) return;
  const requires = status.at("requires");
  if (!requires.absent && requires.count() > STATUS_VERSION) throw newer(requires, STATUS_VERSION);
}

/** A version of ours that must be exactly this one; a greater one was written by a newer build. */
export function checkVersion(field: Field, known: number): void {
  if (field.value === known) return;
  if (Number.isSafeInteger(field.value) && (field.value as number) > known) throw newer(field, known);
  throw field.error(`must be ${known}, is ${JSON.stringify(field.value) ?? "not there"}`);
}

function newer(field: Field, known: number): NewerStatusError {
  return new NewerStatusError(
    `${field.path} is ${String(field.value)}: a newer version of propeller wrote it; this one reads up to ${known}`,
  );
}
