import { existsSync, realpathSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Plugin } from "rolldown";

/** Modules of the SDK and the runtime that this command has bundled for itself. */
const BUILT = /^@flyte-ts\/(?:sdk(?:\/(types|testing|config|runtime))?|runtime\/(task|describe))$/;

/**
 * Leaves the SDK and the runtime out of a bundle that this process runs: this command has them in a
 * few files, whose compiled code Node.js keeps. That is most of the work for a small project. A
 * project with another version of the SDK keeps its own.
 */
export function builtSdkPlugin(root: string): Plugin {
  const folder = builtFolder();
  const usable = folder !== undefined && usesOwnSdk(root);
  return {
    name: "flyte-built-sdk",
    resolveId: {
      order: "pre",
      handler(id) {
        const [match, ofSdk = "index", ofRuntime] = (usable && BUILT.exec(id)) || [];
        if (match === undefined) return undefined;
        const path = ofRuntime === undefined ? join("sdk", `${ofSdk}.js`) : join("runtime", `${ofRuntime}.js`);
        return { id: pathToFileURL(join(folder ?? "", path)).href, external: true };
      },
    },
  };
}

/** Returns the folder of the bundled command; undefined when it runs from its modules. */
function builtFolder(): string | undefined {
  const folder = dirname(fileURLToPath(import.meta.url));
  return existsSync(join(folder, "sdk", "index.js")) ? folder : undefined;
}

/** True when the project has no SDK, or the same as this command. */
function usesOwnSdk(root: string): boolean {
  const own = sdkOf(fileURLToPath(import.meta.url));
  const ofProject = sdkOf(join(root, "package.json"));
  return ofProject === undefined || ofProject === own;
}

function sdkOf(module: string): string | undefined {
  try {
    return realpathSync(createRequire(module).resolve("@flyte-ts/sdk"));
  } catch {
    return undefined;
  }
}
