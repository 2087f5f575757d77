// `npm start`: installs and builds what is missing, then runs the local stack and the example.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, environment, nodeProgram, root } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
const child = spawn(nodeProgram(), [join(root, "packages", "cli", "bundle", "main.js"), "start", ...process.argv.slice(2)], {
  stdio: "inherit",
  env: environment(),
});
// At a terminal the signal reaches the child too; sent to this process alone it has to be passed on.
for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => signal === "SIGTERM" && child.kill(signal));
child.on("exit", (code, signal) => process.exit(signal ? 1 : code));
