// `npm run nightly`: the long forms of what `npm test` runs short. Each part by its name: `npm run nightly -- simulation faults`.
import { ensureBuilt, ensureInstalled, environment as baseEnvironment, run } from "./prepare.mjs";

/** Name, what vitest runs, and the environment that makes it long. */
const PARTS = [
  ["simulation", ["services/propeller/src/simulation"], { SIM_SEEDS: "10000" }],
  ["walks", ["services/propeller/src/engine/walk/full-walk.test.ts"], { FULL_WALK_RUNS: "10000" }],
  ["faults", ["conformance/src/stack/faults.test.ts"], { FAULT_ROUNDS: "72" }],
];

ensureInstalled();
ensureBuilt();
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !PARTS.some(([part]) => part === name));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(", ")}; there are ${PARTS.map(([part]) => part).join(", ")}`);
  process.exit(2);
}
const failed = PARTS.filter(([name]) => wanted.length === 0 || wanted.includes(name)).filter(([name, files, environment]) => {
  console.log(
    `\n== ${name}: ${Object.entries(environment)
      .map(([key, value]) => `${key}=${value}`)
      .join(" ")}`,
  );
  return run("vitest", ["run", ...files], { env: { ...baseEnvironment(), ...environment } }) !== 0;
});
console.log(failed.length === 0 ? "nightly: all parts passed" : `nightly: failed: ${failed.map(([name]) => name).join(", ")}`);
process.exit(failed.length > 0 ? 1 : 0);
