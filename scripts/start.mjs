// `npm start`: installs and builds what is missing, then runs the local stack and the example.
import { becomeCli, ensureBuilt, ensureInstalled } from "./prepare.mjs";

await ensureInstalled();
await ensureBuilt();
await becomeCli(["start", ...process.argv.slice(2)]);
