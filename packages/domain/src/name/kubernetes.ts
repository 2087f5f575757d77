import { fixedLengthUniqueId } from "./unique-id.js";

const LABEL_MAX = 63;
const SUBDOMAIN_MAX = 253;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * Lower case by single characters, as in Go: the only character whose full mapping differs within
 * ASCII is U+0130.
 */
function lower(text: string): string {
  return text.replaceAll("\u0130", "i").toLowerCase();
}

/**
 * Converts `text` to a label value: lower case, runs of other characters than [a-z0-9-] become `-`,
 * at most 63 characters.
 */
export function sanitizeLabelValue(text: string): string {
  return trim(
    lower(text)
      .replace(/[^-a-z0-9]+/g, "-")
      .slice(0, LABEL_MAX),
    "-",
  );
}

/**
 * Converts `name` to a name of a Kubernetes object: unchanged when it is a DNS-1123 subdomain, else
 * camel case split with dashes, lower case, and other characters than [-.a-z0-9] dropped; a hash
 * replaces the end of a name over 253 characters.
 */
export function dns1123Subdomain(name: string): string {
  if (name.length <= SUBDOMAIN_MAX && SUBDOMAIN.test(name)) return name;
  const kebab = lower(name.replace(/([a-z0-9])([A-Z])/g, "$1-$2"));
  const plain = trim(kebab.replace(/[^-.a-z0-9]/gu, ""), ".-");
  if (plain.length <= SUBDOMAIN_MAX) return plain;
  return `${plain.slice(0, SUBDOMAIN_MAX - 21)}-${fixedLengthUniqueId([plain], 20)}`;
}

function trim(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text.charAt(start))) start++;
  while (end > start && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/**
 * Kubernetes namespace of a project and domain, from a template with `{{ project }}` and
 * `{{ domain }}`.
 */
export function executionNamespace(project: string, domain: string, template = "{{ project }}-{{ domain }}"): string {
  return template.replace(/\{\{\s*(project|domain)\s*\}\}/g, (_, name: string) => (name === "project" ? project : domain));
}
