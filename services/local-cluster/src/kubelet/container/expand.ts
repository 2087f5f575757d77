/** Replaces `$(NAME)` by the variable's value; unknown names stay, `$$` is a dollar. Source: Kubernetes' expansion rules. */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^()]*)\))/g, (whole, mark: string, name: string | undefined) =>
    mark === "$" ? "$" : (variables.get(name ?? "") ?? whole),
  );
}
