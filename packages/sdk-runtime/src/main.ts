// `flyte-ts-execute`: the entry of a task's container.
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { BootstrapError } from "./bootstrap/bootstrap-error.js";
import { bundleRoot } from "./bootstrap/bundle-cache.js";
import { execute } from "./bootstrap/execute.js";

// Keeps compiled code beside the bundles that it belongs to, unless NODE_COMPILE_CACHE names a
// place.
if (process.env["NODE_COMPILE_CACHE"] === undefined) enableCompileCache(join(bundleRoot(process.env), "compiled"));

execute(process.argv.slice(2), process.env).then(
  (status) => process.exit(status),
  (error: unknown) => {
    process.stderr.write(`${error instanceof BootstrapError ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
