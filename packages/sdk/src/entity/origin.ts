/** Place in the source where an entity was made; its stack is read when it is needed. */
export interface Origin {
  readonly stack: { readonly stack?: string };
}

/** Returns the place of the caller of `made`, a function of this SDK. */
export function originOf(made: (...args: never[]) => unknown): Origin {
  const stack: { stack?: string } = {};
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 1;
  Error.captureStackTrace(stack, made);
  Error.stackTraceLimit = limit;
  return { stack };
}

export interface SourcePlace {
  readonly file: string;
  readonly line: number;
}

/** Reads the place; undefined when the stack names no file. */
export function placeOf({ stack }: Origin): SourcePlace | undefined {
  const [, file, line] = /\(?((?:file:\/\/|\/|[A-Za-z]:\\)[^()\n]*?):(\d+):\d+\)?\s*$/.exec(stack.stack ?? "") ?? [];
  if (file === undefined) return undefined;
  return { file: file.startsWith("file://") ? decodeURIComponent(new URL(file).pathname) : file, line: Number(line) };
}

/** Formats the place for messages. */
export function originText(origin: Origin): string {
  const place = placeOf(origin);
  return place === undefined ? "an unknown place" : `${place.file}:${place.line}`;
}
