import { type AnyType, described } from "../type/type.js";
import { t } from "../type/t.js";

/**
 * Lists the variants of an optional or a union, nested ones unfolded; None is last, as flytekit
 * writes it. Defaults within a union have no meaning and are dropped.
 */
export function variantsOf(type: AnyType): readonly AnyType[] {
  const found = unfold(type);
  const some = found.filter(({ kind }) => kind !== "none");
  return some.length === found.length ? some : [...some, t.none];
}

function unfold(type: AnyType): readonly AnyType[] {
  const shown = described(type);
  switch (shown.kind) {
    case "optional":
      return [...unfold(shown.inner), t.none];
    case "union":
      return shown.members.flatMap(unfold);
    case "default":
      return unfold(shown.inner);
    default:
      return [type];
  }
}

/** Returns flytekit's tag of a variant, by which it finds the Python type. */
export function unionTag(type: AnyType): string {
  const shown = described(type);
  switch (shown.kind) {
    case "int":
    case "bigint":
      return "int";
    case "float":
      return "float";
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "datetime":
      return "datetime";
    case "duration":
      return "timedelta";
    case "none":
      return "none";
    case "enum":
      return "DefaultEnumTransformer";
    case "list":
      return "Typed List";
    case "map":
    case "json":
      return "Typed Dict";
    case "file":
      return "FlyteFilePath";
    case "directory":
      return "FlyteDirectory";
    case "dataset":
      return "StructuredDataset Transformer";
    case "error":
      return "FlyteError";
    case "object":
      return "Object-Dataclass-Transformer";
    case "schema":
      return unionTag(shown.shape.input);
    case "bytes":
      return "bytes";
    case "opaque":
      return shown.literalType.structure?.tag ?? "";
    case "optional":
    case "union":
      return "Union";
    case "default":
      return unionTag(shown.inner);
  }
}
