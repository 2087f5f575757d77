import { defineConfig } from "vitest/config";

// Test packages from their sources (the "source" condition of each exports map), so that a stale
// build cannot pass. Leave out "module", which leads to files of dependencies that only bundlers
// read.
const conditions = ["source", "node", "development|production"];
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "services/**/src/**/*.test.ts",
      "services/*/simulation/**/*.test.ts",
      "conformance/src/**/*.test.ts",
      "bench/src/**/*.test.ts",
    ],
    exclude: ["**/node_modules/**", "**/dist/**", "**/bundle/**"],
    pool: "forks",
    maxWorkers: 2,
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
