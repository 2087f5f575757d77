import { createHash } from "node:crypto";

const HASH_LENGTH = 8;

/**
 * Returns the name of an attempt's object: the generated name, whose end is replaced by a hash of
 * the whole where it exceeds the maximum of the object's kind. Such names have exactly `maxLength`
 * characters.
 */
export function objectName(generatedName: string, maxLength: number): string {
  if (generatedName.length <= maxLength) return generatedName;
  const hash = createHash("sha256").update(generatedName).digest("hex").slice(0, HASH_LENGTH);
  return `${generatedName.slice(0, maxLength - HASH_LENGTH - 1)}-${hash}`;
}

/** True when an object of this name may be the attempt's, whatever the maximum of its kind. */
export function isObjectName(name: string, generatedName: string): boolean {
  return name === generatedName || (name.length > HASH_LENGTH && name === objectName(generatedName, name.length));
}
