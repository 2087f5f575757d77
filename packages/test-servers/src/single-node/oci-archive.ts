import { createHash } from "node:crypto";
import { createReadStream, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { runCommand } from "./run-command.js";

/** An image with one layer, built from a folder. */
export interface ImageSpec {
  /** Names for pods, with tags, all of the same image. */
  readonly names: readonly string[];
  /** Root file system. */
  readonly root: string;
  readonly env?: readonly string[];
  readonly entrypoint?: readonly string[];
  /** Command of containers without a command and arguments of their own. */
  readonly command?: readonly string[];
  /** Working directory of containers. Default: the root. */
  readonly workingDir?: string;
}

const LAYOUT = "application/vnd.oci.image";

/** Writes an archive (OCI image layout) that containerd imports. */
export async function writeOciArchive(file: string, image: ImageSpec): Promise<void> {
  const { names, root, env = [], entrypoint, command, workingDir } = image;
  mkdirSync(dirname(file), { recursive: true });
  const layout = mkdtempSync(`${file}.`);
  const blobs = join(layout, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const keep = (content: object) => {
    const bytes = Buffer.from(JSON.stringify(content));
    const digest = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(blobs, digest), bytes);
    return { digest: `sha256:${digest}`, size: bytes.length };
  };
  try {
    const staged = join(layout, "layer.tar");
    await runCommand("tar", [
      "-C",
      root,
      "--numeric-owner",
      "--exclude=./proc/*",
      "--exclude=./sys/*",
      "--exclude=./dev/*",
      "-cf",
      staged,
      ".",
    ]);
    const layer = await digestOf(staged);
    renameSync(staged, join(blobs, layer));
    const config = keep({
      architecture: { x64: "amd64", arm64: "arm64" }[process.arch as string] ?? process.arch,
      os: "linux",
      config: { Env: env, Entrypoint: entrypoint, Cmd: command, WorkingDir: workingDir },
      rootfs: { type: "layers", diff_ids: [`sha256:${layer}`] },
    });
    const manifest = keep({
      schemaVersion: 2,
      mediaType: `${LAYOUT}.manifest.v1+json`,
      config: { mediaType: `${LAYOUT}.config.v1+json`, ...config },
      layers: [{ mediaType: `${LAYOUT}.layer.v1.tar`, digest: `sha256:${layer}`, size: statSync(join(blobs, layer)).size }],
    });
    const manifests = names.map((name) => ({
      mediaType: `${LAYOUT}.manifest.v1+json`,
      ...manifest,
      annotations: { "io.containerd.image.name": fullName(name) },
    }));
    writeFileSync(join(layout, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
    writeFileSync(join(layout, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
    await runCommand("tar", ["-C", layout, "-cf", `${file}.new`, "oci-layout", "index.json", "blobs"]);
    renameSync(`${file}.new`, file);
  } finally {
    rmSync(layout, { recursive: true, force: true });
  }
}

/** Expands a name without a host to Docker's registry, as kubelet does. */
export function fullName(name: string): string {
  const [first = "", ...rest] = name.split("/");
  if (rest.length === 0) return `docker.io/library/${name}`;
  return /[.:]|^localhost$/.test(first) ? name : `docker.io/${name}`;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file, { highWaterMark: 1 << 20 }), hash);
  return hash.digest("hex");
}
