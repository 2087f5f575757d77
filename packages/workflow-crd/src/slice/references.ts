import { checkVersion } from "../parse/status-version.js";
import type { Field } from "../parse/field.js";
import { SLICE_VERSION } from "../model/status.js";

export interface SliceReference {
  readonly key: string;
  readonly name: string;
  readonly uri: string;
}

/**
 * Valid name of a slice's blob, directly below the prefix. Propeller deletes slices, so a name must
 * not lead elsewhere.
 */
const BLOB_NAME = /^(?!\.+$)[\w.-]+$/;

/** URI of a slice's blob. */
export function sliceUri(prefix: string, name: string): string {
  return `${prefix}/${name}`;
}

/** Lists the slices that a status references. */
export function sliceReferences(status: Field): readonly SliceReference[] {
  if (status.isAbsent) return [];
  const root = status.at("slices");
  if (root.isAbsent) return [];
  checkVersion(root.at("version"), SLICE_VERSION);
  const prefix = root.at("prefix").string();
  root.at("generation").nonNegativeInt();
  return root
    .at("names")
    .entries()
    .map(([key, field]) => {
      const name = field.string();
      if (!BLOB_NAME.test(name)) throw field.error("must be a blob name without directories");
      return { key, name, uri: sliceUri(prefix, name) };
    });
}
