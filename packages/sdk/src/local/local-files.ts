import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Returns false if a value holds the `file:` address of a file that does not exist. */
export function localFilesExist(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  if ("uri" in value && typeof value.uri === "string") return !value.uri.startsWith("file:") || existsSync(fileURLToPath(value.uri));
  if (ArrayBuffer.isView(value)) return true;
  return Object.values(value).every(localFilesExist);
}
