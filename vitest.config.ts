import { defineConfig } from "vitest/config";

// Packages are tested from their sources (the "source" condition of each exports map), so a stale build can never pass.
// Without "module": it leads to files of dependencies that only bundlers can read.
const conditions = ["source", "node", "development|production"];
export default defineConfig({
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "services/**/src/**/*.test.ts", "conformance/src/**/*.test.ts", "bench/src/**/*.test.ts"],
    exclude: ["**/node_modules/**", "**/dist/**"],
    pool: "forks",
    maxWorkers: 2,
    // Many tests end processes at random moments, on machines of any speed. One that passes only when it is repeated is
    // told of as such ("retry x1"): somebody has to look, but nobody's work waits for it.
    retry: 2,
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
});
