import type { ServiceManifest } from "./manifest-schema.js";

const PLANES: readonly ServiceManifest["plane"][] = ["control", "data", "local", "sidecar"];

/** Sorts services as generated files list them: by plane, plugin services last, otherwise by id. */
export function sortServices<T>(services: readonly T[], manifestOf: (service: T) => ServiceManifest): readonly T[] {
  const rank = (service: T) => {
    const { plane, id } = manifestOf(service);
    return PLANES.indexOf(plane) * 2 + (id.startsWith("plugin-") ? 1 : 0);
  };
  return services.toSorted((a, b) => rank(a) - rank(b) || (manifestOf(a).id < manifestOf(b).id ? -1 : 1));
}
