import { parseImage } from "./reference.js";

export type ImageCheck =
  | { readonly kind: "present" }
  | { readonly kind: "invalid"; readonly message: string }
  | { readonly kind: "unreachable"; readonly message: string };

/**
 * Checks an image name. Images are never pulled: every valid name counts as present unless it
 * matches a pattern of unreachable images. `*` matches any text; the pattern applies to the full
 * name, `registry/repository:tag`.
 */
export function checkImage(image: string, unreachable: readonly string[]): ImageCheck {
  const reference = parseImage(image);
  if ("error" in reference) return { kind: "invalid", message: reference.error };
  const { name } = reference;
  if (!unreachable.some((pattern) => matches(pattern, name))) return { kind: "present" };
  const host = name.split("/")[0] ?? "";
  return {
    kind: "unreachable",
    message: `failed to pull and unpack image "${name}": failed to resolve reference "${name}": failed to do request: Head "https://${host}/v2/": dial tcp: lookup ${host}: no such host`,
  };
}

function matches(pattern: string, name: string): boolean {
  const expression = pattern
    .split("*")
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
    .join(".*");
  return new RegExp(`^${expression}$`).test(name);
}
