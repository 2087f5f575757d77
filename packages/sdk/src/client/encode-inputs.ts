import type { LiteralMap } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { encodeInputs } from "../codec/interface-values.js";
import { described, type AnyType, type Fields } from "../type/type.js";
import type { ApiFiles } from "./api-files.js";
import type { Registered } from "./find-entity.js";

/** Encodes inputs and sends their files. @throws InvalidInput naming the first that does not fit */
export async function encodeGiven(
  { interface: { inputs }, defaults }: Pick<Registered, "interface" | "defaults">,
  values: Readonly<Record<string, unknown>>,
  files: ApiFiles,
): Promise<LiteralMap> {
  const wanted = Object.entries(inputs).filter(([name]) => values[name] !== undefined || !defaults.has(name));
  if (wanted.some(([, type]) => mayHoldFiles(type))) await files.prepare();
  return encodeInputs({ inputs: Object.fromEntries(wanted) }, values, files);
}

function mayHoldFiles(type: AnyType): boolean {
  const shown = described(type);
  switch (shown.kind) {
    case "file":
    case "directory":
    case "dataset":
      return true;
    case "list":
    case "map":
      return mayHoldFiles(shown.element);
    case "optional":
    case "default":
      return mayHoldFiles(shown.inner);
    case "union":
      return shown.members.some(mayHoldFiles);
    case "object":
      return fieldsHoldFiles(shown.fields);
    default:
      return false;
  }
}

const fieldsHoldFiles = (fields: Fields): boolean => Object.values(fields).some(mayHoldFiles);
