import { ApiError } from "../api-error.js";
import type { Target } from "../context.js";
import type { TypeRegistry } from "../type/type-registry.js";

/**
 * Parses a resource path: group, version, namespace, plural, name, subresource. @throws ApiError
 * NotFound
 */
export function parseRoute(types: TypeRegistry, path: string): Target {
  const parts = path.split("/").slice(1).map(decode);
  const core = parts[0] === "api";
  const group = core ? "" : (parts[1] ?? "");
  const version = (core ? parts[1] : parts[2]) ?? "";
  let rest = parts.slice(core ? 2 : 3);
  // `/watch/` paths are deprecated in favour of `?watch=true` and not supported.
  let namespace: string | undefined;
  if (rest[0] === "namespaces" && rest.length > 2 && !(rest.length === 3 && (rest[2] === "status" || rest[2] === "finalize"))) {
    namespace = rest[1];
    rest = rest.slice(2);
  }
  const [plural = "", name, subresource, ...more] = rest;
  const type = types.find(group, version, plural);
  if (type === undefined || more.length > 0 || (namespace !== undefined && !type.namespaced)) throw pathNotFound();
  if (type.namespaced && namespace === undefined && name !== undefined) throw pathNotFound();
  if (subresource !== undefined && !type.subresources.includes(subresource)) throw pathNotFound();
  return { type, namespace, name: name === "" ? undefined : name, subresource };
}

export const pathNotFound = () => new ApiError("NotFound", "the server could not find the requested resource");

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new ApiError("BadRequest", `the path contains an invalid percent-encoding: ${part}`);
  }
}
