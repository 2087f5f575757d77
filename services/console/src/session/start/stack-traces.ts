/** Setting of V8; other engines do not have it. */
const errors = Error as ErrorConstructor & { stackTraceLimit?: number | undefined };
const { stackTraceLimit } = errors;

/**
 * Makes errors without stack traces until {@link resumeStackTraces}: React creates some while it
 * loads, and the browser parses its whole script again for their positions, 15 ms.
 */
export function pauseStackTraces(): void {
  errors.stackTraceLimit = 0;
}

export function resumeStackTraces(): void {
  errors.stackTraceLimit = stackTraceLimit;
}
