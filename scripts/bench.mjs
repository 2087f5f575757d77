// `npm run bench -- …`: runs a benchmark; bench/src/main.ts describes the arguments.
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, nodeProgram, root, run } from "./prepare.mjs";

await ensureInstalled();
await ensureBuilt();
process.exit(run(nodeProgram(), [join(root, "bench", "dist", "main.js"), ...process.argv.slice(2)]));
