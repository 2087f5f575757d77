import type { JsonObject } from "@bufbuild/protobuf";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type {
  AnyType,
  BigInteger,
  Bool,
  Bytes,
  Dataset,
  Defaulted,
  DirectoryType,
  Enum,
  Fields,
  FileType,
  Float,
  FlyteErrorType,
  InOf,
  Instant,
  Int,
  Json,
  List,
  Mapping,
  None,
  ObjectType,
  OpaqueType,
  Optional,
  OutOf,
  Span,
  Str,
  Union,
} from "./type.js";

type RowOf<C extends Fields> = { readonly [K in keyof C]: OutOf<C[K]> };

/** The types of Flyte, without those of schema libraries. */
export interface Words {
  readonly int: Int;
  readonly bigint: BigInteger;
  readonly float: Float;
  readonly string: Str;
  readonly boolean: Bool;
  readonly datetime: Instant;
  readonly duration: Span;
  readonly bytes: Bytes;
  readonly none: None;
  /** Any JSON value. */
  readonly json: Json;
  /** The error that a failure handler receives. */
  readonly error: FlyteErrorType;
  /**
   * A file; its format is a name such as `csv`. With `hash: "content"` the cache compares its
   * bytes.
   */
  file(format?: string, options?: { readonly hash?: "content" }): FileType;
  directory(format?: string): DirectoryType;
  /** Rows with these columns, stored as Parquet. */
  dataset<const C extends Fields = {}>(columns?: C): Dataset<RowOf<C>>;
  enum<const N extends readonly [string, ...string[]]>(...names: N): Enum<N[number]>;
  list<E extends AnyType>(element: E): List<E>;
  map<E extends AnyType>(element: E): Mapping<E>;
  optional<E extends AnyType>(inner: E): Optional<E>;
  union<const M extends readonly [AnyType, AnyType, ...AnyType[]]>(...members: M): Union<M>;
  object<const F extends Fields>(fields: F, options?: { readonly title?: string }): ObjectType<F>;
  /** The same type with a value for callers that give none. */
  default<T extends AnyType>(inner: T, value: InOf<T>): Defaulted<T>;
  /** The same type with annotations for other programs. */
  annotated<T extends AnyType>(type: T, annotations: JsonObject): T;
  /** A type that TypeScript cannot read. */
  opaque(literalType: LiteralType, reason: string): OpaqueType;
}

export const WORDS: Words = {
  int: { kind: "int" },
  bigint: { kind: "bigint" },
  float: { kind: "float" },
  string: { kind: "string" },
  boolean: { kind: "boolean" },
  datetime: { kind: "datetime" },
  duration: { kind: "duration" },
  bytes: { kind: "bytes" },
  none: { kind: "none" },
  json: { kind: "json" },
  error: { kind: "error" },
  file: (format = "", { hash } = {}) => ({ kind: "file", format, hash }),
  directory: (format = "") => ({ kind: "directory", format }),
  dataset: (columns) => ({ kind: "dataset", columns: columns ?? {} }),
  enum: (...names) => ({ kind: "enum", names }),
  list: (element) => ({ kind: "list", element }),
  map: (element) => ({ kind: "map", element }),
  optional: (inner) => ({ kind: "optional", inner }),
  union: (...members) => ({ kind: "union", members }),
  object: (fields, { title = "Object" } = {}) => ({ kind: "object", fields, title }),
  default: (inner, value) => ({ kind: "default", inner, value }),
  annotated: (type, annotations) => ({ ...type, annotations }),
  opaque: (literalType, reason) => ({ kind: "opaque", literalType, reason }),
};
