// `npm run verify`: builds, lints and tests as CI does. The last line counts checks and tests.
import { spawnSync } from "node:child_process";
import { checks } from "./checks.mjs";
import { ensureBuilt, ensureInstalled, environment, root } from "./prepare.mjs";

await ensureInstalled();
await ensureBuilt();
const verdicts = checks();
const tests = spawnSync("npm", ["test"], {
  cwd: root,
  env: environment(),
  stdio: ["ignore", "pipe", "inherit"],
  encoding: "utf8",
  maxBuffer: 256 << 20,
});
process.stdout.write(tests.stdout ?? "");
const counted = /tests: (\d+) passed, (\d+) failed\s*$/.exec(tests.stdout ?? "");
const passed = verdicts.filter(Boolean).length + Number(counted?.[1] ?? 0);
const failed = verdicts.filter((verdict) => !verdict).length + (tests.status === 0 ? 0 : Math.max(Number(counted?.[2] ?? 0), 1));
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);
