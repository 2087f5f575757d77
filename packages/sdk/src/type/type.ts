import type { JsonObject } from "@bufbuild/protobuf";
import type { LiteralType } from "@flyte-ts/idl/flyteidl/core/types_pb";
import type { Duration, DurationText } from "./duration.js";
import type { FlyteOpaque } from "./opaque.js";
import type { ArrowTable, DirectorySource, FileSource, FlyteDataset, FlyteDirectory, FlyteFile } from "../file/file.js";
import type { SchemaShape } from "./schema-shape.js";

declare const OUT: unique symbol;
declare const IN: unique symbol;

/**
 * A type of Flyte as a value. `Out` is the type that a task's function receives, `In` the type that
 * callers may give; `Kind` distinguishes int from float, which TypeScript does not.
 */
export interface Type<Kind extends string, Out, In = Out> {
  readonly kind: Kind;
  /** Annotations of the LiteralType, from `t.annotated`. */
  readonly annotations?: JsonObject;
  readonly [OUT]?: readonly [Out];
  readonly [IN]?: readonly [In];
}

/** Any type of Flyte. */
export type AnyType = Type<string, unknown, unknown>;
/** The values that a task receives for a type. */
export type OutOf<T> = T extends { readonly [OUT]?: readonly [infer Out] } ? Out : never;
/** The values that callers may give for a type. */
export type InOf<T> = T extends { readonly [IN]?: readonly [infer In] } ? In : never;

/** The type of `t.int`: safe integers. */
export interface Int extends Type<"int", number> {}
/** The type of `t.bigint`: integers of 64 bits. */
export interface BigInteger extends Type<"bigint", bigint, bigint | number> {}
/** The type of `t.float`: numbers, also NaN and ±∞. */
export interface Float extends Type<"float", number> {}
/** The type of `t.string`. */
export interface Str extends Type<"string", string> {}
/** The type of `t.boolean`. */
export interface Bool extends Type<"boolean", boolean> {}
/** The type of `t.datetime`. */
export interface Instant extends Type<"datetime", Date> {}
/** The type of `t.duration`. */
export interface Span extends Type<"duration", Duration, Duration | DurationText> {}
/** The type of `t.bytes`. */
export interface Bytes extends Type<"bytes", Uint8Array> {}
/** The type of `t.none`. */
export interface None extends Type<"none", null, null | undefined> {}
/** The type of `t.json`. */
export interface Json<T = JsonValue> extends Type<"json", T> {}
/** The type of `t.enum`. */
export interface Enum<Names extends string> extends Type<"enum", Names> {
  readonly names: readonly Names[];
}
/** The type of `t.file`. */
export interface FileType extends Type<"file", FlyteFile, FlyteFile | FileSource> {
  readonly format: string;
  /** `content`: the cache compares the bytes of the file instead of its address. */
  readonly hash: "content" | undefined;
}
/** The type of `t.directory`. */
export interface DirectoryType extends Type<"directory", FlyteDirectory, FlyteDirectory | DirectorySource> {
  readonly format: string;
}
/** The type of `t.dataset`. */
export interface Dataset<Row> extends Type<"dataset", FlyteDataset<Row>, FlyteDataset<Row> | readonly Row[] | ArrowTable> {
  readonly columns: Fields;
}
/** The type of `t.list`. */
export interface List<E extends AnyType> extends Type<"list", readonly OutOf<E>[], readonly InOf<E>[]> {
  readonly element: E;
}
/** The type of `t.map`: keys are strings. */
export interface Mapping<E extends AnyType> extends Type<"map", Readonly<Record<string, OutOf<E>>>, Readonly<Record<string, InOf<E>>>> {
  readonly element: E;
}
/** The type of `t.optional`. */
export interface Optional<E extends AnyType> extends Type<"optional", OutOf<E> | null, InOf<E> | null | undefined> {
  readonly inner: E;
  /** None is read as an absent field, as schemas of libraries want it. */
  readonly leavesOut?: boolean;
}
/** The type of `t.union`. */
export interface Union<M extends readonly AnyType[]> extends Type<"union", OutOf<M[number]>, InOf<M[number]>> {
  readonly members: M;
}
/** The type of `t.object`. */
export interface ObjectType<F extends Fields> extends Type<"object", Values<F>, Given<F>> {
  readonly fields: F;
  /** Name of the class in JSON Schema. */
  readonly title: string;
}
/** Any library's schema with a JSON Schema: zod, arktype, valibot. */
export interface Schema<Out, In> extends Type<"schema", Out, In> {
  readonly shape: SchemaShape;
}
/** The type of `t.default`: callers may leave the value out. */
export interface Defaulted<T extends AnyType> extends Type<"default", OutOf<T>, InOf<T> | undefined> {
  readonly inner: T;
  readonly value: InOf<T>;
}
/** The type of `t.error`. */
export interface FlyteErrorType extends Type<"error", FlyteErrorValue> {}
/** A type that TypeScript cannot read; its values are passed on unread. */
export interface OpaqueType extends Type<"opaque", FlyteOpaque> {
  readonly literalType: LiteralType;
  readonly reason: string;
}

/** The error that a failure handler receives. */
export interface FlyteErrorValue {
  readonly failedNode: string;
  readonly message: string;
}

/** Inputs or outputs by name. */
export type Fields = { readonly [name: string]: AnyType };
/** The values of fields that a task receives. */
export type Values<F extends Fields> = { readonly [K in keyof F]: OutOf<F[K]> };
export type OptionalKey<F extends Fields> = {
  [K in keyof F]: F[K]["kind"] extends "default" | "optional" | "none" ? K : never;
}[keyof F];
type Flat<T> = { readonly [K in keyof T]: T[K] } & {};
/** Values of these fields as callers may give them: defaults and optional ones may be left out. */
export type Given<F extends Fields> = [keyof F] extends [never]
  ? { readonly [name: string]: never }
  : Flat<{ [K in Exclude<keyof F, OptionalKey<F>>]: InOf<F[K]> } & { [K in OptionalKey<F>]?: InOf<F[K]> | undefined }>;
/** The type without its default. */
export type Plain<T extends AnyType> = T extends Defaulted<infer Inner> ? Inner : T;

/** A value of JSON. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** Every kind of type that exists at run time. */
export type Described =
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
  | FlyteErrorType
  | OpaqueType;

/** Returns the same type as one of the kinds, so that a switch narrows it. */
export function described(type: AnyType): Described {
  return type as Described;
}

/** Removes the default of a type. */
export function withoutDefault(type: AnyType): AnyType {
  const shown = described(type);
  return shown.kind === "default" ? shown.inner : type;
}

/** True when a caller may leave out a value of this type. */
export function mayBeAbsent(type: AnyType): boolean {
  return type.kind === "default" || type.kind === "optional" || type.kind === "none";
}
