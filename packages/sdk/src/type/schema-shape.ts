import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { fieldOf, itemOf, type Place } from "../codec/place.js";
import { ValueError } from "../entity/errors.js";
import { sameShape, typeOfJsonSchema } from "./json-schema-type.js";
import type { AnyType } from "./type.js";

/** The standard properties of a library's schema. */
export type SchemaProperties = StandardSchemaV1.Props<unknown, unknown> & StandardJSONSchemaV1.Props<unknown, unknown>;

/**
 * Form of the values of a library's schema. A value is validated where it is given and where it is
 * received. Values travel in the output form when it differs from the input form by defaults alone,
 * so that attributes of references exist; with transforms they travel in the input form, so that a
 * transform is applied once.
 */
export class SchemaShape {
  private forms: { readonly input: AnyType; readonly output: AnyType | undefined } | undefined;

  constructor(private readonly standard: SchemaProperties) {}

  /** The type of the input form, which callers give. */
  get input(): AnyType {
    return this.known().input;
  }

  /** Validates a value that is given; returns it in the form that travels. */
  encoded(value: unknown, place: Place): { readonly type: AnyType; readonly value: unknown } {
    const { input, output } = this.known();
    const validated = this.validate(value, place);
    return output === undefined ? { type: input, value } : { type: output, value: validated };
  }

  /** Validates a value that is received; `read` reads it as a type. */
  decoded(read: (type: AnyType) => unknown, place: Place): unknown {
    return this.validate(read(this.known().input), place);
  }

  private known() {
    this.forms ??= this.derive();
    return this.forms;
  }

  private derive(): { readonly input: AnyType; readonly output: AnyType | undefined } {
    const input = this.typeOf("input");
    try {
      const output = this.typeOf("output");
      return { input, output: sameShape(input, output) ? output : undefined };
    } catch {
      // Outputs of transforms often have no JSON Schema; the input form travels then.
      return { input, output: undefined };
    }
  }

  private typeOf(side: "input" | "output"): AnyType {
    try {
      return typeOfJsonSchema(this.standard.jsonSchema[side]({ target: "draft-2020-12" }));
    } catch (error) {
      const reason = (error as Error).message;
      throw new TypeError(
        `this schema of ${this.standard.vendor} has no form that Flyte can carry: ${reason}; t.object() knows dates, bigints and files`,
        { cause: error },
      );
    }
  }

  private validate(value: unknown, place: Place): unknown {
    const result = this.standard.validate(value);
    if (result instanceof Promise)
      throw new TypeError(`${place.text} has an asynchronous schema of ${this.standard.vendor}; types of Flyte are checked synchronously`);
    if (result.issues === undefined) return result.value;
    const [issue] = result.issues;
    throw new ValueError(`${placeOf(place, issue?.path ?? []).text}: ${issue?.message ?? "is invalid"}`);
  }
}

type IssuePath = NonNullable<StandardSchemaV1.Issue["path"]>;

function placeOf(place: Place, path: IssuePath): Place {
  let found = place;
  for (const step of path) {
    const key = typeof step === "object" ? step.key : step;
    found = typeof key === "number" ? itemOf(found, key) : fieldOf(found, String(key));
  }
  return found;
}
