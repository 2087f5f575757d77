import { defineConfig } from "@flyte-ts/sdk/config";

export default defineConfig({ project: "flytesnacks", domain: "development", sources: ["references.ts"] });
