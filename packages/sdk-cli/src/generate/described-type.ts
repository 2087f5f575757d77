import type {
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
  Instant,
  Int,
  Json,
  List,
  Mapping,
  None,
  ObjectType,
  OpaqueType,
  Optional,
  Schema,
  Span,
  Str,
  Union,
} from "@flyte-ts/sdk/types";

/** Any type of the SDK. */
export type AnyType = Fields[string];

/** Any type of the SDK, with the parts of its kind. */
export type DescribedType =
  | Int
  | BigInteger
  | Float
  | Str
  | Bool
  | Instant
  | Span
  | Bytes
  | None
  | Json
  | FlyteErrorType
  | Enum<string>
  | FileType
  | DirectoryType
  | Dataset<unknown>
  | List<AnyType>
  | Mapping<AnyType>
  | Optional<AnyType>
  | Union<readonly AnyType[]>
  | ObjectType<Fields>
  | Schema<unknown, unknown>
  | Defaulted<AnyType>
  | OpaqueType;
