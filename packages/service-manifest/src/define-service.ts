import { z } from "zod";
import { manifestSchema, type ServiceManifest, type ServiceManifestInput } from "./manifest-schema.js";

/**
 * A manifest whose `opsPort` has the type of the given value: a number, not undefined, where a port
 * was given.
 */
export type DefinedService<OpsPort> = ServiceManifest & { readonly opsPort: OpsPort };

/**
 * Checks a manifest and adds defaults.
 *
 * @throws Error naming the service and each wrong field
 */
export function defineService<OpsPort extends number | undefined = undefined>(
  manifest: ServiceManifestInput & { readonly opsPort?: OpsPort },
): DefinedService<OpsPort> {
  const result = manifestSchema.safeParse(manifest);
  if (!result.success) throw new Error(`manifest of service ${manifest.id}:\n${z.prettifyError(result.error)}`);
  return result.data as DefinedService<OpsPort>;
}
