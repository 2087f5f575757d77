/** Whether Kubernetes reads this as a quantity: a decimal number with a binary or decimal suffix, or with an exponent. */
export function isQuantity(text: string): boolean {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?$/.test(text);
}
