import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Address of admin for `vite dev`: that of `npm start`. */
const admin = process.env["FLYTE_TS_ADMIN"] ?? "http://localhost:30080";

/** Has the browser load the font of the interface before it has read the style sheets. */
const preloadFont: Plugin = {
  name: "preload-font",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {} }) {
      const font = Object.keys(bundle).find((name) => /inter-.*\.woff2$/.test(name));
      if (font === undefined) return [];
      const attrs = { rel: "preload", as: "font", type: "font/woff2", href: `/console/${font}`, crossorigin: true };
      return [{ tag: "link", attrs, injectTo: "head" }];
    },
  },
};

export default defineConfig({
  base: "/console/",
  plugins: [react({ compiler: true }), preloadFont],
  // Take packages of the workspace from their sources, as bundles of services do.
  resolve: { conditions: ["source", "module", "browser", "production"] },
  build: {
    outDir: "bundle",
    target: "es2023",
    // Fonts and icons are files of their own: the policy of the pages allows no data URLs for them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The test of sizes follows imports by it. Admin serves no file whose name begins with a dot.
    manifest: true,
  },
  server: { proxy: { "/api": admin, "/login": admin } },
});
