// Prints the notes that Helm shows after an installation.
import { SECRETS, SERVICES } from "./services.mjs";

/** @returns text of templates/NOTES.txt: services and Secrets of the enabled parts */
export function notes() {
  return `Services: ${enabled(Object.keys(SERVICES))}.

They start when these Secrets are in the namespace {{ .Release.Namespace }}:
${Object.values(SECRETS).map(secretLine).join("")}
What a service lacks it says itself: kubectl -n {{ .Release.Namespace }} logs deployment/NAME
`;
}

function secretLine({ values, keys, part, note }) {
  const isOfServices = keys.every((key) => key in SERVICES);
  const text = isOfServices ? enabled(keys) : keys.join(", ");
  const line = `  {{ .Values.secrets.${values} }} (${text})${note === undefined ? "" : `, ${note}`}\n`;
  const parts = part === undefined && isOfServices ? keys.map((key) => SERVICES[key].part) : [part].filter(Boolean);
  if (parts.length === 0) return line;
  const conditions = [...new Set(parts)].map((name) => `.Values.parts.${name}`);
  return `{{- if ${conditions.length === 1 ? conditions[0] : `or ${conditions.join(" ")}`} }}\n${line}{{- end }}\n`;
}

/** Expression for the names of services that are enabled. */
function enabled(names) {
  const each = names.map((name) => `(ternary "${name}" "" .Values.parts.${SERVICES[name].part})`);
  return `{{ list ${each.join(" ")} | compact | join ", " }}`;
}
