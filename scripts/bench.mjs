// `npm run bench -- …`: measures a running endpoint; see bench/src/main.ts for the words.
import { join } from "node:path";
import { ensureBuilt, ensureInstalled, nodeProgram, root, run } from "./prepare.mjs";

await ensureInstalled();
await ensureBuilt();
process.exit(run(nodeProgram(), [join(root, "bench", "dist", "main.js"), ...process.argv.slice(2)]));
