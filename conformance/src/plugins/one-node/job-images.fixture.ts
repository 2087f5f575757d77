import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { ImageSpec } from "@flyte-ts/test-servers";

const FOLDER = join(import.meta.dirname, "images");
/** Installs the Debian packages that building an image and running a node need. */
const INSTALL = join(import.meta.dirname, "../../../../deploy/one-node/install.sh");
const PATH = "PATH=/opt/venv/bin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/** Init container that the training operator adds to launchers of MPI. */
const KUBECTL_DELIVERY = "ghcr.io/kubeflow/training-v1/kubectl-delivery:latest";

/** Contents of an image for tasks, one for each `requirements-KIND.txt`. */
export type ImageKind = "dask" | "kubeflow" | "ray" | "spark";

/** Parts of an image besides its file system, name and environment. */
const CONFIG: Readonly<Record<ImageKind, Partial<ImageSpec>>> = {
  dask: {},
  kubeflow: { command: ["sh", "-c", "cp /usr/local/bin/kubectl /opt/kube/kubectl"] },
  ray: {},
  spark: { entrypoint: ["/opt/spark-entrypoint.sh"] },
};

export const imageName = (kind: ImageKind) => `docker.io/flyte-ts/tasks-${kind}:1`;

/** Builds the images for tasks; the first call on a machine takes many minutes. */
export function buildJobImages(): ImageSpec[] {
  execFileSync(INSTALL, { stdio: ["ignore", "ignore", "inherit"] });
  return (Object.keys(CONFIG) as ImageKind[]).map((kind) => {
    const root = execFileSync("sh", [join(FOLDER, "root.sh"), kind], { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();
    const names = [imageName(kind), ...(kind === "kubeflow" ? [KUBECTL_DELIVERY] : [])];
    return { names, root, env: [PATH, "LANG=C.UTF-8"], workingDir: "/root", ...CONFIG[kind] };
  });
}
