// Generates the Helm chart deploy/helm/flyte-ts from deploy/kubernetes.
//
//   node scripts/chart.mjs           writes the chart
//   node scripts/chart.mjs --check   fails and names each file of the chart that is not current
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import { hasKubectl } from "./chart/kustomize.mjs";
import { notes } from "./chart/notes.mjs";
import { overlayNames, overlayValues } from "./chart/overlay-values.mjs";
import { printValues } from "./chart/print-values.mjs";
import { templatesOf } from "./chart/templates.mjs";
import { schemaOf, valuesOf } from "./chart/values.mjs";
import { differences, parseCheckFlag } from "./drift.mjs";
import { root } from "./prepare.mjs";

const chart = join(root, "deploy", "helm", "flyte-ts");
const written = join(root, "scripts", "chart", "written");

const isCheck = parseCheckFlag("chart");
if (!hasKubectl()) {
  console.error("chart: skipped, kubectl is not on the PATH");
  process.exit(isCheck ? 0 : 1);
}

const folder = mkdtempSync(join(tmpdir(), "flyte-ts-chart-"));
try {
  make(folder);
  if (isCheck) {
    const drift = differences(folder, chart);
    if (drift.length > 0) {
      console.error(
        `chart: ${drift.length} files of deploy/helm/flyte-ts do not match deploy/kubernetes; run npm run generate\n${drift.join("\n")}`,
      );
      process.exitCode = 1;
    }
  } else {
    rmSync(chart, { recursive: true, force: true });
    cpSync(folder, chart, { recursive: true });
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function make(target) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const { templates, definitions, defaults } = templatesOf();
  const values = valuesOf(defaults);
  const files = {
    "Chart.yaml": stringify({
      apiVersion: "v2",
      name: "flyte-ts",
      description: "Flyte's server side in TypeScript",
      type: "application",
      version,
      appVersion: version,
      kubeVersion: ">=1.30.0-0",
    }),
    "values.yaml": printValues(values),
    "values.schema.json": `${JSON.stringify(schemaOf(values), null, 2)}\n`,
    "templates/NOTES.txt": notes(),
    "crds/definitions.yaml": definitions,
    ...Object.fromEntries(overlayNames().map((name) => [`overlays/${name}.yaml`, overlayValues(name)])),
    ...Object.fromEntries(templates.map(([name, text]) => [`templates/${name}`, text])),
  };
  cpSync(written, target, { recursive: true });
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(target, name)), { recursive: true });
    writeFileSync(join(target, name), text);
  }
}
