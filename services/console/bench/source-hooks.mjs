// Lets Node run the console's sources: an import of `x.js` leads to `x.ts` where that exists.
import { existsSync } from "node:fs";
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

registerHooks({
  resolve(specifier, context, next) {
    const source = specifier.startsWith(".") ? new URL(specifier.replace(/\.js$/, ".ts"), context.parentURL) : undefined;
    return source !== undefined && existsSync(fileURLToPath(source)) ? { url: source.href, shortCircuit: true } : next(specifier, context);
  },
});
