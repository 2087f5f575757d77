/**
 * Whether `metadata.managedFields`, the API server's record of who set which field, holds plain updates alone: then nobody
 * has use for it. Who applies an object from a file (server-side apply) needs it to know which fields are their own.
 */
export function isRecordOfUpdates(managedFields: unknown): boolean {
  return (
    Array.isArray(managedFields) &&
    managedFields.length > 0 &&
    managedFields.every((entry: { readonly operation?: unknown } | null) => entry?.operation === "Update")
  );
}
