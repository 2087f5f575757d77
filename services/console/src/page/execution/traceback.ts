/** Part of a message: lines of its own code, or frames of libraries, which are folded. */
export interface MessagePart {
  readonly kind: "text" | "foreign";
  readonly lines: readonly string[];
  /** Libraries of foreign frames. */
  readonly libraries: readonly string[];
}

const FRAME = /^\s*File "([^"]+)", line \d+/;
const LIBRARY = /(?:site-packages|dist-packages)\/([^/]+)|\/(?:usr|opt)\/\S*\/(python3(?:\.\d+)?)\//;

/**
 * Splits the message of an error: frames of a Python traceback in libraries become parts of their
 * own. A frame is its `File` line and the lines below it that are indented further.
 */
export function splitTraceback(message: string): readonly MessagePart[] {
  const parts: { kind: MessagePart["kind"]; lines: string[]; libraries: Set<string> }[] = [];
  let frame: { readonly library: string | undefined; readonly indent: number } | undefined;
  for (const line of message.trimEnd().split("\n")) {
    const [path] = FRAME.exec(line)?.slice(1) ?? [];
    if (path !== undefined) frame = { library: libraryOf(path), indent: indentOf(line) };
    else if (frame !== undefined && indentOf(line) <= frame.indent) frame = undefined;
    const kind = frame?.library === undefined ? "text" : "foreign";
    let part = parts.at(-1);
    if (part?.kind !== kind) {
      part = { kind, lines: [], libraries: new Set() };
      parts.push(part);
    }
    part.lines.push(line);
    if (frame?.library !== undefined) part.libraries.add(frame.library);
  }
  return parts.map(({ kind, lines, libraries }) => ({ kind, lines, libraries: [...libraries] }));
}

function libraryOf(path: string): string | undefined {
  const [, packageName, python] = LIBRARY.exec(path) ?? [];
  return packageName ?? python;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
