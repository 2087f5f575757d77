/** The stack cannot be started; the message says what to do. */
export class StackError extends Error {
  override readonly name = "StackError";
}
