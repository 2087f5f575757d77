import babel from "@rolldown/plugin-babel";
import react, { reactCompilerPreset } from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** Address of admin for `vite dev`: that of `npm start`. */
const admin = process.env["FLYTE_TS_ADMIN"] ?? "http://localhost:30080";

export default defineConfig({
  base: "/console/",
  plugins: [react(), babel({ presets: [reactCompilerPreset()] })],
  // Take packages of the workspace from their sources, as their bundles do.
  resolve: { conditions: ["source", "module", "browser", "production"] },
  build: {
    outDir: "bundle",
    target: "es2023",
    // Fonts and icons are files of their own: the policy of the pages allows no data URLs for them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: { proxy: { "/api": admin, "/login": admin } },
});
