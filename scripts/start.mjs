// `npm start`: installs and builds what is missing, then runs the local stack and the example.
import { becomeCli, ensureBuilt, ensureInstalled } from "./prepare.mjs";

ensureInstalled();
ensureBuilt();
becomeCli(["start", ...process.argv.slice(2)]);
