/** Namespace of an execution's resources, from the configured template. */
export function namespaceOf(template: string, project: string, domain: string): string {
  return template.replace(/\{\{\s*(project|domain)\s*\}\}/g, (_, name: string) => (name === "project" ? project : domain));
}
