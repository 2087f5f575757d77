import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { homedir } from "node:os";
import { join } from "node:path";
import { PACKED_VERSION, packPublishedPackages } from "./packed-packages.fixture.js";

/** A registry of npm that has the published packages of this tree. */
export interface OwnRegistry {
  /** Variables that make npm use it for the scope `@flyte-ts`, and its own registry for others. */
  readonly environment: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Packs the published packages below the folder, and serves them. */
export async function startOwnRegistry(folder: string): Promise<OwnRegistry> {
  const { folders, archives } = packPublishedPackages(folder);
  const manifests = new Map(folders.map((each) => manifestOf(each)).map((manifest) => [manifest.name, manifest]));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "").slice(1);
    const file = readdirSync(archives).find((name) => path === `archives/${name}`);
    if (file !== undefined) return response.end(readFileSync(join(archives, file)));
    const manifest = manifests.get(path);
    if (manifest === undefined) return response.writeHead(404).end();
    const archive = `flyte-ts-${manifest.name.slice("@flyte-ts/".length)}-${PACKED_VERSION}.tgz`;
    const integrity = `sha512-${createHash("sha512")
      .update(readFileSync(join(archives, archive)))
      .digest("base64")}`;
    const dist = { tarball: `${url}/archives/${archive}`, integrity };
    const versions = { [PACKED_VERSION]: { ...manifest, dist } };
    return response.end(JSON.stringify({ name: manifest.name, "dist-tags": { latest: PACKED_VERSION }, versions }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // A file, because shells drop variables whose names they cannot spell, as that of a scope's
  // registry.
  const userConfig = join(folder, "npmrc");
  writeFileSync(userConfig, `${ownUserConfig()}\n@flyte-ts:registry=${url}/\n`);
  const stop = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return { environment: { npm_config_userconfig: userConfig }, stop };
}

/** Settings of npm of the user who runs the tests. */
function ownUserConfig(): string {
  const file = process.env["npm_config_userconfig"] ?? join(homedir(), ".npmrc");
  return existsSync(file) ? readFileSync(file, "utf8") : "";
}

function manifestOf(folder: string): { readonly name: string } {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { readonly name: string };
}
