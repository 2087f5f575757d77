// The checks of `npm run lint` and `npm run verify`.
import { join } from "node:path";
import { nodeProgram, root, run } from "./prepare.mjs";

/** Runs every check and prints a line for each. Returns whether each passed. */
export function checks() {
  // The bundled Node exists only after dependencies are installed, so do not look for it on import.
  const node = nodeProgram();
  const script = (name, ...args) => [node, [join(root, "scripts", name), ...args]];
  const all = [
    ["format", "biome", ["format", "--log-level=warn", "."]],
    ["lint (with types), import cycles", "oxlint", ["--type-aware", "--quiet"]],
    ["types of tests", "tsc", ["-p", "tsconfig.tests.json"]],
    ["types of the console's tests", "tsc", ["-p", "services/console/tsconfig.tests.json"]],
    ["import directions", ...script("check-imports.mjs")],
    ["areas of admin", ...script("check-areas.mjs")],
    ["names and exports", ...script("check-names.mjs")],
    ["indexes of packages, purity of packages/async", ...script("check-packages.mjs")],
    ["styles of the console", ...script("check-styles.mjs")],
    ["comments", ...script("check-comments.mjs")],
    ["settings have descriptions", ...script("check-settings.mjs")],
    ["IDL", "buf", ["lint", "idl"]],
    ["generated code is current", ...script("generate.mjs", "--check")],
    ["deployments are current", ...script("generate-deploy.mjs", "--check")],
    ["the Helm chart is current", ...script("chart.mjs", "--check")],
    ["the reference pages are current", ...script("reference.mjs", "--check")],
  ];
  return all.map(([name, command, args]) => {
    const passed = run(command, args) === 0;
    console.log(`${passed ? "ok  " : "FAIL"} ${name}`);
    return passed;
  });
}
