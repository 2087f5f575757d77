import { canonicalQuantity, parseQuantity } from "@flyte-ts/domain";

/** The canonical form, or "0" for text that is empty or no quantity. */
export function quantityOrZero(text: string): string {
  return parseQuantity(text) === undefined ? "0" : canonicalQuantity(text);
}
