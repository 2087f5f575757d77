import { isJson, isRaw } from "../form-value.js";
import type { FieldType } from "../type/field-type.js";
import { BlobField } from "./address/blob-field.js";
import { TableField } from "./address/table-field.js";
import { ListField } from "./compound/list-field.js";
import { MapField } from "./compound/map-field.js";
import { ObjectField } from "./compound/object-field.js";
import { UnionField } from "./compound/union-field.js";
import type { ValueProps } from "./field-context.js";
import { BooleanField } from "./scalar/boolean-field.js";
import { DateTimeField } from "./scalar/date-time-field.js";
import { EnumField } from "./scalar/enum-field.js";
import { ErrorField } from "./scalar/error-field.js";
import { JsonField } from "./scalar/json-field.js";
import { LineField } from "./scalar/line-field.js";
import { NoneField } from "./scalar/none-field.js";
import { RawField } from "./scalar/raw-field.js";
import { TextField } from "./scalar/text-field.js";

/** Control of a value of any type. */
export function ValueField({ type, ...rest }: ValueProps<FieldType>) {
  if (isRaw(rest.value)) return <RawField type={type} {...rest} />;
  if (isJson(rest.value) && type.kind !== "object") return <JsonField type={type} {...rest} />;
  switch (type.kind) {
    case "integer":
    case "float":
    case "duration":
      return <LineField type={type} {...rest} />;
    case "string":
      return <TextField type={type} {...rest} />;
    case "boolean":
      return <BooleanField type={type} {...rest} />;
    case "datetime":
      return <DateTimeField type={type} {...rest} />;
    case "none":
      return <NoneField />;
    case "error":
      return <ErrorField type={type} {...rest} />;
    case "enum":
      return <EnumField type={type} {...rest} />;
    case "list":
      return <ListField type={type} {...rest} />;
    case "map":
      return <MapField type={type} {...rest} />;
    case "union":
      return <UnionField type={type} {...rest} />;
    case "object":
      return <ObjectField type={type} {...rest} />;
    case "json":
    case "struct":
      return <JsonField type={type} {...rest} />;
    case "blob":
      return <BlobField type={type} {...rest} />;
    case "dataset":
    case "schema":
      return <TableField type={type} {...rest} />;
    case "raw":
      return <RawField type={type} {...rest} />;
  }
}
