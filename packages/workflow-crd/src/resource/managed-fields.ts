/**
 * True when `metadata.managedFields`, the API server's record of field ownership, holds plain
 * updates alone: then it has no use. Server-side apply needs it to know which fields its manager
 * owns.
 */
export function hasOnlyUpdateManagers(managedFields: unknown): boolean {
  return (
    Array.isArray(managedFields) &&
    managedFields.length > 0 &&
    managedFields.every((entry: { readonly operation?: unknown } | null) => entry?.operation === "Update")
  );
}
