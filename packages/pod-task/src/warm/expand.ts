/**
 * Expands the text of a container's command, argument or variable as kubelets do, if it refers to
 * no variable: `$$` becomes `$`. Undefined for a text with `$(NAME)`.
 */
export function expandWithoutVariables(text: string): string | undefined {
  let expanded = "";
  for (let at = 0; at < text.length; at++) {
    const [character, next] = [text[at], text[at + 1]];
    if (character !== "$") expanded += character;
    else if (next === "$") {
      expanded += "$";
      at++;
    } else if (next === "(" && text.indexOf(")", at) >= 0) return undefined;
    else expanded += "$";
  }
  return expanded;
}
