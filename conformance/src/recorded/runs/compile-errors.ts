/** One error of Go Flyte's compiler, parsed from the message that lists all errors. */
export interface CompileError {
  readonly code: string;
  readonly node: string;
  readonly description: string;
}

/**
 * Parses `failed to compile workflow for […] with err: Collected Errors: N`; undefined for other
 * messages and for a truncated list.
 */
export function compileErrors(message: string): CompileError[] | undefined {
  const count = /^failed to compile workflow for \[.*\] with err: Collected Errors: (\d+)\n/.exec(message)?.[1];
  if (count === undefined) return undefined;
  const errors = [...message.matchAll(/\tError \d+: Code: (\w+), Node Id: (\S+), Description: (.*)/g)];
  if (errors.length !== Number(count)) return undefined;
  return errors.map(([, code = "", node = "", description = ""]) => ({ code, node, description }));
}

/**
 * Reports whether the error is a mismatch between a type and a list of that type. Go Flyte reports
 * only that for an array whose items have an interface of their own, because it takes the item's
 * interface for the array's.
 */
export function isListMismatch({ code, description }: CompileError): boolean {
  if (code === "MismatchingTypes") {
    const [, from, to] =
      /^The output variable '[^']*' has type \[(.*)\], but it's assigned to the input variable '[^']*' which has type type \[(.*)\]\.$/.exec(
        description,
      ) ?? [];
    return from !== undefined && to !== undefined && (isListOf(from, to) || isListOf(to, from));
  }
  if (code !== "MismatchingBindings") return false;
  const [, expected, received] =
    /^Input \[[^\]]*\] on node \[[^\]]*\] expects bindings of type \[(.*)\]\. Received \[(.*)\]$/.exec(description) ?? [];
  return expected !== undefined && !expected.startsWith("collection_type:") && received?.startsWith("bindings:{") === true;
}

const isListOf = (list: string, item: string): boolean => list === `collection_type:{${item}}`;
