// Generates an SBOM in CycloneDX 1.6: every npm package of the image with the integrity hash of the
// lock file.

/**
 * @param {{name: string, version: string, revision: string, folders: readonly string[], lock:
 * object, node: string}} facts folders: of the packages, relative to the repository; lock: content
 * of package-lock.json
 */
export function billOfMaterials({ name, version, revision, folders, lock, node }) {
  const components = folders.map((folder) => component(folder, lock, version)).toSorted((a, b) => (a["bom-ref"] < b["bom-ref"] ? -1 : 1));
  return {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": name,
        name,
        version,
        licenses: [{ license: { id: "Apache-2.0" } }],
        properties: [{ name: "vcs:revision", value: revision }],
      },
    },
    components: [
      {
        type: "platform",
        "bom-ref": "node",
        name: "node",
        version: node.replace(/^v/, ""),
        purl: `pkg:generic/node@${node.replace(/^v/, "")}`,
      },
      ...components,
    ],
  };
}

function component(folder, { packages }, ownVersion) {
  const entry = packages[folder];
  if (entry === undefined) throw new Error(`${folder} is not in package-lock.json`);
  const own = !folder.includes("node_modules/");
  const name = entry.name ?? folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
  const version = own ? ownVersion : entry.version;
  const purl = `pkg:npm/${name.replace("@", "%40")}@${version}`;
  const [algorithm, sum] = (entry.integrity ?? "").split("-");
  return {
    type: "library",
    "bom-ref": own ? purl : `${purl}#${folder}`,
    name,
    version,
    purl,
    ...(entry.license && { licenses: [{ expression: entry.license }] }),
    ...(sum && { hashes: [{ alg: algorithm.replace("sha", "SHA-"), content: Buffer.from(sum, "base64").toString("hex") }] }),
  };
}
