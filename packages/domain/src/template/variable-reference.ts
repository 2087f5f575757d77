/**
 * Escapes a text so that kubelets keep it literally in a container's command, arguments and
 * variables: they expand `$(NAME)` to the variable's value and `$$` to `$`. Source: Kubernetes API,
 * `Container.args`.
 */
export function escapeReferences(text: string): string {
  // A single dollar before anything else stands for itself. The one at the end may precede a
  // bracket that follows.
  return text.includes("$") ? text.replace(/\${2,}|\$(?=\(|$)/g, (dollars) => dollars + dollars) : text;
}

/**
 * Escapes `value` to be appended to `text`: a dollar that ends the text and a bracket or dollar
 * that begins the value must not form a reference.
 */
export function escapeAppended(text: string, value: string): string {
  if (!text.endsWith("$") || !/^[($]|^$/.test(value)) return value;
  return dollarsAtEnd(text) % 2 === 1 ? `$${value}` : value;
}

/**
 * Counts backwards, because a regular expression for trailing dollars would be tried at each dollar
 * within the text.
 */
function dollarsAtEnd(text: string): number {
  let start = text.length;
  while (text[start - 1] === "$") start--;
  return text.length - start;
}
