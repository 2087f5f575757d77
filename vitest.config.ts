import { defineConfig } from "vitest/config";
import SlowestFirst from "./scripts/test/sequencer.mjs";

// Test packages from their sources (the "source" condition of each exports map), so that a stale
// build cannot pass. Leave out "module", which leads to files of dependencies that only bundlers
// read.
const conditions = ["source", "node", "development|production"];
const NO_TESTS = ["**/node_modules/**", "**/dist/**", "**/bundle/**"];
/** Tests of the memory or the processor time of their own process. */
const MEASURES_ITS_PROCESS = ["packages/lifecycle/src/heap-growth.test.ts", "conformance/src/attack/exhaustion/**/*.test.ts"];
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    projects: [
      // Files share a process, and the modules in it: loading modules would take half of the time
      // of tests of packages, and 1 s of a processor for each of conformance. vitest.setup.ts
      // undoes the changes of each file.
      {
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          include: [
            "packages/*/src/**/*.test.ts",
            "services/**/src/**/*.test.ts",
            "services/*/simulation/**/*.test.ts",
            "bench/src/**/*.test.ts",
            "examples/typescript/src/**/*.test.ts",
            "conformance/src/**/*.test.ts",
          ],
          exclude: [...NO_TESTS, ...MEASURES_ITS_PROCESS],
        },
      },
      { extends: true, test: { name: "isolated", include: MEASURES_ITS_PROCESS, exclude: NO_TESTS } },
    ],
    pool: "forks",
    // Files contain processes of their own, and wait for schedules, heartbeats and restarts: three
    // at a time keep two cores busy. TEST_WORKERS overrides it.
    maxWorkers: Number(process.env["TEST_WORKERS"] ?? 3),
    sequence: { sequencer: SlowestFirst },
    setupFiles: ["vitest.setup.ts"],
    // Timeouts suit a machine that is temporarily ten times slower: a test waits for a condition
    // and passes as soon as it holds.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Print failed values in full: the report of CI is often the only one.
    chaiConfig: { truncateThreshold: 2000 },
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});
