/**
 * Expands `$(NAME)` to the variable's value; keeps unknown names, and reduces `$$` to `$`. Source:
 * Kubernetes' expansion rules.
 */
export function expand(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$(\$|\(([^()]*)\))/g, (whole, mark: string, name: string | undefined) =>
    mark === "$" ? "$" : (variables.get(name ?? "") ?? whole),
  );
}
