/** The task cannot be converted to a pod; the message names the field and the rule. */
export class InvalidPodSpecError extends Error {
  override readonly name = "InvalidPodSpecError";
}
