import type {
  AnyType,
  BigInteger,
  Bool,
  Defaulted,
  Enum,
  Fields,
  Float,
  InOf,
  Int,
  Json,
  List,
  Mapping,
  ObjectType,
  Optional,
  OptionalKey,
  OutOf,
  Plain,
  Schema,
  Str,
  Union,
} from "../type/type.js";

declare const REF: unique symbol;

/**
 * A value that exists when the workflow runs. No argument satisfies `then`, so `await` on a
 * reference does not compile.
 */
export interface Reference<T extends AnyType> {
  readonly [REF]: T;
  then(nothing: "a reference has no value yet: await belongs in eager()"): never;
}

/** A reference with its attributes. */
export type Ref<T extends AnyType> = Reference<T> & Inside<T>;

/** Attributes: fields of objects, items of lists, entries of maps. */
type Inside<T extends AnyType> =
  T extends ObjectType<infer F>
    ? { readonly [K in keyof F]: Ref<Plain<F[K]>> }
    : T extends List<infer E>
      ? { readonly [index: number]: Ref<E> }
      : T extends Mapping<infer E>
        ? { readonly [key: string]: Ref<E> }
        : T extends Schema<infer Out, unknown>
          ? InsideJson<Out>
          : T extends Json<infer Out>
            ? InsideJson<Out>
            : {};
type InsideJson<V> = V extends readonly (infer E)[]
  ? { readonly [index: number]: Ref<Json<E>> }
  : V extends string | number | boolean | null | undefined
    ? {}
    : { readonly [K in keyof V]: Ref<Json<V[K]>> };

/** References that may be given where a `T` is expected. */
export type Fits<T extends AnyType> =
  | Reference<T>
  | (T extends Optional<infer E> ? Reference<E> : never)
  | (T extends Union<infer M> ? Reference<M[number]> : never)
  | (T extends Str ? Reference<Enum<string>> | Reference<Json<string>> : never)
  | (T extends Int | BigInteger ? Reference<Int> | Reference<BigInteger> | Reference<Json<number>> : never)
  | (T extends Float ? Reference<Json<number>> : never)
  | (T extends Bool ? Reference<Json<boolean>> : never);

/** An input of a node: a value, a reference, or a list or map with references inside. */
export type Bound<T extends AnyType> =
  | InOf<T>
  | Fits<T>
  | (T extends List<infer E> ? readonly Bound<E>[] : never)
  | (T extends Mapping<infer E> ? { readonly [key: string]: Bound<E> } : never)
  | (T extends Defaulted<infer E> ? Bound<E> : never);

type Flat<T> = { readonly [K in keyof T]: T[K] } & {};
/** Inputs of a node; without any, an object that takes no property. */
export type Args<F extends Fields> = [keyof F] extends [never]
  ? { readonly [name: string]: never }
  : Flat<{ [K in Exclude<keyof F, OptionalKey<F>>]: Bound<F[K]> } & { [K in OptionalKey<F>]?: Bound<F[K]> | undefined }>;

/** `outputs: t.int`, `outputs: { a: t.int }` or none. */
export type Outputs = AnyType | Fields | undefined;
/** Outputs as a function returns them. */
export type Returned<O> = O extends AnyType
  ? InOf<O>
  : O extends Fields
    ? { readonly [K in Exclude<keyof O, OptionalKey<O>>]: InOf<O[K]> } & { readonly [K in OptionalKey<O>]?: InOf<O[K]> }
    : void;
/** Outputs as a caller receives them. */
export type Received<O> = O extends AnyType ? OutOf<O> : O extends Fields ? { readonly [K in keyof O]: OutOf<O[K]> } : undefined;
/** Outputs of a node. */
export type Refs<O> = O extends AnyType ? Ref<O> : O extends Fields ? { readonly [K in keyof O]: Ref<O[K]> } : Done;
/** Inputs of a workflow, for the function that builds its graph. */
export type InputRefs<I extends Fields> = { readonly [K in keyof I]: Ref<Plain<I[K]>> };
/** Outputs as a function that builds a graph returns them. */
export type Promised<O> = O extends AnyType ? Bound<O> : O extends Fields ? { readonly [K in keyof O]: Bound<O[K]> } : void;

/** A node without outputs: other nodes can only wait for it. */
export interface Done {
  readonly [REF]: undefined;
}
