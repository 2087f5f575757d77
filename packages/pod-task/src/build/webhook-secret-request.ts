import { type Secret, Secret_MountType } from "@flyte-ts/idl/flyteidl/core/security_pb";

// Form of requests for secrets to Flyte's webhook.
const LABELS = { "inject-flyte-secrets": "true" };
const ALPHABET = "abcdefghijklmnopqrstuvwxyz123456";

export interface WebhookSecretRequest {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
}

/**
 * Labels and annotations with which Flyte's webhook injects secrets, from its configured source:
 * Vault, a cloud's store, Kubernetes.
 */
export function webhookSecretRequest(secrets: readonly Secret[]): WebhookSecretRequest {
  if (secrets.length === 0) return { labels: {}, annotations: {} };
  const annotations = secrets.map((secret, index) => [`flyte.secrets/s${index}`, base32(secretToTextFormat(secret))]);
  return { labels: { ...LABELS }, annotations: Object.fromEntries(annotations) };
}

/** Formats the message in protobuf's text format. */
function secretToTextFormat({ group, groupVersion, key, mountRequirement, envVar }: Secret): string {
  const fields: [string, string][] = [
    ["group", quoted(group)],
    ["group_version", quoted(groupVersion)],
    ["key", quoted(key)],
    ["mount_requirement", mountRequirement === Secret_MountType.ANY ? "" : Secret_MountType[mountRequirement]],
    ["env_var", quoted(envVar)],
  ];
  return fields.map(([name, value]) => (value === "" ? "" : `${name}: ${value}\n`)).join("");
}

function quoted(text: string): string {
  return text === "" ? "" : `"${text.replace(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`)}"`;
}

function base32(text: string): string {
  let bits = 0;
  let value = 0;
  let out = "";
  for (const byte of Buffer.from(text)) {
    value = ((value << 8) | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) out += ALPHABET[(value >> (bits - 5)) & 31];
  }
  return bits === 0 ? out : out + ALPHABET[(value << (5 - bits)) & 31];
}
