/** The stack cannot be started; the message has the remedy. */
export class StackError extends Error {
  override readonly name = "StackError";
}
