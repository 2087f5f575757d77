import { canonicalQuantity, parseQuantity } from "@flyte-ts/domain/quantity";

/** Returns the canonical form, or "0" for an empty text or an invalid quantity. */
export function quantityOrZero(text: string): string {
  return parseQuantity(text) === undefined ? "0" : canonicalQuantity(text);
}
