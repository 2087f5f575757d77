// `npm run lint`: runs all checks of the source that do not execute it.
import { checks } from "./checks.mjs";
import { ensureInstalled } from "./prepare.mjs";

await ensureInstalled();
const failed = checks().filter((passed) => !passed).length;
process.exit(failed > 0 ? 1 : 0);
