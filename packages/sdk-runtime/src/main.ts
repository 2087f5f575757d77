// `flyte-ts-execute`: the entry of a task's container. With --spare it waits for its task.
import { enableCompileCache } from "node:module";
import { join } from "node:path";
import { bundleRoot } from "./bootstrap/bundle-root.js";

// Keeps compiled code beside the bundles that it belongs to, unless NODE_COMPILE_CACHE names a
// place. The code of this program is loaded after that.
if (process.env["NODE_COMPILE_CACHE"] === undefined) enableCompileCache(join(bundleRoot(process.env), "compiled"));

async function main(argv: readonly string[]): Promise<number> {
  const { execute } = await import("./bootstrap/execute.js");
  if (argv[0] !== "--spare") return execute(argv, process.env);
  const { waitForRun } = await import("./spare/wait-for-run.js");
  return (await waitForRun(argv.slice(1))) ? execute(process.argv.slice(2), process.env) : 0;
}

main(process.argv.slice(2)).then(
  (status) => process.exit(status),
  (error: unknown) => {
    const isExpected = error instanceof Error && error.name === "BootstrapError";
    process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`);
    process.exit(1);
  },
);
