import { defineConfig } from "vitest/config";

// Packages are tested from their sources (the "source" condition of each exports map), so a stale build can never pass.
// Without "module": it leads to files of dependencies that only bundlers can read.
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
    // Of a machine that is ten times as slow for a while: who waits for something waits long, and passes as soon as it is there.
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // What failed is told whole: a report of CI is often all there is to read.
    chaiConfig: { truncateThreshold: 2000 },
    expect: { poll: { timeout: 30_000, interval: 20 } },
  },
});
