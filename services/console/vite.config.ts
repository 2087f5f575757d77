import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

/** Address of admin for `vite dev`: that of `npm start`. */
const admin = process.env["FLYTE_TS_ADMIN"] ?? "http://localhost:30080";

/** Libraries that every page needs. */
const LIBRARIES = /@tanstack\/(?!react-virtual|virtual)|node_modules\/(react|scheduler|use-sync-external-store)/;
/** Parts that all pages share, and small ones that would be files of their own. */
const SHARED =
  /console\/src\/(control\/(?!dialog|menu)|format|api|app|route|literal\/literal-text|entity|execution-list|frame\/(?!palette)|session\/(hold-connection|connection-share|renew-stream)|timeline\/hook\/use-(canvas|gestures)|node-table\/table\/node-state|page\/home\/summary|command\/shell)/;

/** Parts of the entry that the app shares. */
const EARLY =
  /vite\/preload-helper|rolldown\/runtime|client\/src\/browser|console\/src\/(api\/(execution-api|list-pages|overview-api|registry-api|scope)|early-|format\/(phase|count|duration|time)\.|node-table\/|route\/(execution-search|executions-search|filter-expression|list-search|search)\.|session\/(start|store|preferences)|wire\/|theme\/(theme\.ts|read-|tokens|base)|control\/(classes|icon-paths|icon\.module|phase-shapes|phase-mark\.module|tabs\.module)|frame\/(crumbs|navigation\.ts|frame\.module|navigation-bar\.module|scope-chooser\.module|top-bar\.module|breadcrumb\.module)|timeline\/(axis|canvas|timeline-frame|timeline\.module|tree\/(node-tree\.module|row-text))|page\/execution\/(first-rows|shown-tab|execution-header\.module|execution-page\.module|counts\/node-counts\.module|timeline\/(newer-state|page-marks|timeline-colours)))/;

/** Scripts and styles that each page needs before it draws. */
const STARTING = /(libraries|shared|start-app|runtime)-[^/]*\.(js|css)$/;

/**
 * Has the browser load the app, its styles and the font of the interface before the entry asks for
 * them. An import waits for the styles that it brings, unless the page has them.
 */
const preloads: Plugin = {
  name: "preloads",
  transformIndexHtml: {
    order: "post",
    handler(_, { bundle = {} }) {
      const names = Object.keys(bundle);
      const font = names.find((name) => /inter-.*\.woff2$/.test(name));
      const starting = names.filter((name) => STARTING.test(name));
      const link = (attrs: Record<string, string | true>) => ({ tag: "link", attrs, injectTo: "head" as const });
      return [
        ...starting.map((name) =>
          name.endsWith(".css")
            ? link({ rel: "stylesheet", href: `/console/${name}`, crossorigin: true })
            : link({ rel: "modulepreload", href: `/console/${name}`, crossorigin: true }),
        ),
        ...(font === undefined
          ? []
          : [link({ rel: "preload", as: "font", type: "font/woff2", href: `/console/${font}`, crossorigin: true })]),
      ];
    },
  },
};

export default defineConfig({
  base: "/console/",
  plugins: [react({ compiler: true }), preloads],
  // Take packages of the workspace from their sources, as bundles of services do.
  resolve: { conditions: ["source", "module", "browser", "production"] },
  build: {
    outDir: "bundle",
    target: "es2023",
    // Fonts and icons are files of their own: the policy of the pages allows no data URLs for them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Parts that all pages share are one file: each further one costs a round trip.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            // The entry needs them before the others are there.
            { name: "early", test: EARLY, priority: 2 },
            { name: "libraries", test: LIBRARIES, priority: 1 },
            { name: "shared", test: SHARED },
          ],
        },
      },
    },
    // The test of sizes follows imports by it. Admin serves no file whose name begins with a dot.
    manifest: true,
  },
  server: { proxy: { "/api": admin, "/login": admin } },
});
