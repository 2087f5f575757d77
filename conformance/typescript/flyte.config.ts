import { defineConfig } from "@flyte-ts/sdk/config";

export default defineConfig({
  project: "flytesnacks",
  domain: "development",
  sources: ["src/flows/**/*.ts"],
  image: "registry.example.org/typescript:24",
});
