// `npm run lint`: everything about the source that can be checked without running it.
import { checks } from "./checks.mjs";
import { ensureInstalled } from "./prepare.mjs";

await ensureInstalled();
const failed = checks().filter((passed) => !passed).length;
process.exit(failed > 0 ? 1 : 0);
