import { checkVersion } from "../parse/newer-status.js";
import type { Field } from "../parse/read.js";
import { SLICE_VERSION } from "../status.js";

export interface SliceReference {
  readonly key: string;
  readonly name: string;
  readonly uri: string;
}

/** Address of a slice's blob. */
export function sliceUri(prefix: string, name: string): string {
  return `${prefix}/${name}`;
}

/** The slices that a status names. */
export function sliceReferences(status: Field): readonly SliceReference[] {
  if (status.absent) return [];
  const root = status.at("slices");
  if (root.absent) return [];
  checkVersion(root.at("version"), SLICE_VERSION);
  const prefix = root.at("prefix").string();
  root.at("generation").count();
  return root
    .at("names")
    .entries()
    .map(([key, name]) => ({ key, name: name.string(), uri: sliceUri(prefix, name.string()) }));
}
