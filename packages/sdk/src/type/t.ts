import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import { SchemaShape } from "./schema-shape.js";
import type { Schema } from "./type.js";
import { WORDS, type Words } from "./words.js";

/** A schema of a library that also gives its JSON Schema. */
export interface SchemaWithJson<In = unknown, Out = In> {
  readonly "~standard": StandardSchemaV1.Props<In, Out> & StandardJSONSchemaV1.Props<In, Out>;
}

/** The types of Flyte. */
export interface TypeWords extends Words {
  /** The schema of a library: zod ≥ 4.2, arktype, or valibot with `@valibot/to-json-schema`. */
  schema<S extends SchemaWithJson<unknown, unknown>>(schema: S): Schema<StandardSchemaV1.InferOutput<S>, StandardSchemaV1.InferInput<S>>;
}

/** The types of Flyte as values: `t.int`, `t.list(t.string)`, `t.object({ id: t.int })`. */
export const t: TypeWords = { ...WORDS, schema: (schema) => ({ kind: "schema", shape: new SchemaShape(schema["~standard"]) }) };
