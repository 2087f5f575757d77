// Also imported by scripts/bundle.mjs, as a source: it must not import modules of this package.
import type { Plugin } from "rolldown";

/** Modules of this project, in a checkout and as they are published. */
const OWN = /[\\/](?:packages[\\/](?:idl|domain|sdk|sdk-runtime|compiler|sdk-cli)|@flyte-ts)[\\/]/;
/** Modules that replace those of @bufbuild/protobuf, which import them themselves. */
const REPLACEMENTS = /[\\/]messages[\\/](?:lazy-descriptors|messages)\.[jt]s$/;
const WELL_KNOWN = /@bufbuild[\\/]protobuf[\\/]dist[\\/]esm[\\/]wkt[\\/]/;

/**
 * Describes messages of Flyte when they are used, and reads and writes them by their layout alone.
 * Most programs use few messages, and descriptions of all take most of the time of a short task.
 *
 * @param resolvedFrom module of a package that depends on the runtime
 */
export function lazyMessages(resolvedFrom: string): Plugin {
  return {
    name: "flyte-lazy-messages",
    resolveId: {
      order: "pre",
      handler(id, importer = "") {
        const replacement = replacementOf(id, importer);
        return replacement && this.resolve(`@flyte-ts/runtime/${replacement}`, resolvedFrom);
      },
    },
  };
}

function replacementOf(id: string, importer: string): "lazy-descriptors" | "messages" | undefined {
  if (WELL_KNOWN.test(importer)) {
    if (id.includes("/codegenv2/")) return "lazy-descriptors";
    return id === "../create.js" ? "messages" : undefined;
  }
  if (!OWN.test(importer) || REPLACEMENTS.test(importer)) return undefined;
  if (id === "@bufbuild/protobuf/codegenv2") return "lazy-descriptors";
  return id === "@bufbuild/protobuf" ? "messages" : undefined;
}
