/** Part of an image name that the reference grammar allows. Source: the distribution project's reference grammar. */
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*";
const DOMAIN = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?";
const REFERENCE = new RegExp(
  `^((?:(?:${DOMAIN})/)?${PATH_PART}(?:/${PATH_PART})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

export type ImageReference = { readonly name: string } | { readonly error: string };

/** The full name of an image (`docker.io/library/busybox:latest`), or why it is none, in the words of kubelet. */
export function parseImage(image: string): ImageReference {
  const fail = (why: string) => ({
    error: `Failed to apply default image tag ${JSON.stringify(image)}: couldn't parse image name ${JSON.stringify(image)}: ${why}`,
  });
  if (/^[a-f0-9]{64}$/.test(image)) return fail(`invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`);
  const { domain, rest } = splitDomain(image);
  const repository = rest.split(/[:@]/)[0] ?? "";
  if (repository !== repository.toLowerCase()) return fail(`invalid reference format: repository name (${repository}) must be lowercase`);
  const parts = REFERENCE.exec(`${domain}/${rest}`);
  if (parts === null) return fail("invalid reference format");
  const [, name = "", tag, digest] = parts;
  return { name: digest === undefined ? `${name}:${tag ?? "latest"}` : `${name}@${digest}` };
}

/** A first part without dot, colon or `localhost` is not a registry: the image is of Docker Hub. */
function splitDomain(image: string): { domain: string; rest: string } {
  const slash = image.indexOf("/");
  const first = slash < 0 ? "" : image.slice(0, slash);
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  if (isDomain && first !== "docker.io" && first !== "index.docker.io") return { domain: first, rest: image.slice(slash + 1) };
  const rest = isDomain ? image.slice(slash + 1) : image;
  return { domain: "docker.io", rest: rest.includes("/") ? rest : `library/${rest}` };
}
