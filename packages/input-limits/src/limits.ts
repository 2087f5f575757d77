/** Upper bounds of one input, checked before anything is built from it. */
export interface Limits {
  /** Size in bytes, after decompression. */
  readonly bytes: number;
  /**
   * Values that a decoder would build: for protobuf every field that is present, every element of a
   * packed list and every unknown field; for JSON every value.
   */
  readonly elements: number;
  /** Nesting of messages, or of JSON objects and arrays; the outermost is 1. */
  readonly depth: number;
}

/** Deepest nesting that the protobuf library decodes. */
export const PROTOBUF_MAX_DEPTH = 100;

/**
 * Reason why an input is rejected. `malformed`: it is not protobuf wire format, or a field has the
 * wrong wire type.
 */
export type Violation =
  | { readonly kind: "bytes" | "elements" | "depth"; readonly limit: number }
  | { readonly kind: "malformed"; readonly at: number };

/** Describes a violation for the sender, as a predicate: "has more than 10 elements". */
export function violationText(violation: Violation): string {
  switch (violation.kind) {
    case "bytes":
      return `is larger than ${violation.limit} bytes`;
    case "elements":
      return `has more than ${violation.limit} elements`;
    case "depth":
      return `is nested more than ${violation.limit} levels deep`;
    case "malformed":
      return `is not well-formed at byte ${violation.at}`;
  }
}

/**
 * Size of an input. Where `violation` is set, the counts are those up to the place where scanning
 * stopped.
 */
export interface Measurement {
  readonly elements: number;
  /** Deepest nesting found. */
  readonly depth: number;
  readonly violation: Violation | undefined;
}
