/** Component of an image name. Source: the reference grammar of the distribution project. */
const PATH_PART = "[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*";
const DOMAIN = "(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*(?::[0-9]+)?";
const REFERENCE = new RegExp(
  `^((?:(?:${DOMAIN})/)?${PATH_PART}(?:/${PATH_PART})*)(?::([\\w][\\w.-]{0,127}))?(?:@([A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}))?$`,
);

export type ImageReference = { readonly name: string } | { readonly error: string };

/**
 * Returns an image's full name (`docker.io/library/busybox:latest`), or kubelet's error for an
 * invalid one.
 */
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

/**
 * Splits off the registry. A first component without dot, colon or `localhost` belongs to a Docker
 * Hub image.
 */
function splitDomain(image: string): { domain: string; rest: string } {
  const slash = image.indexOf("/");
  const first = slash < 0 ? "" : image.slice(0, slash);
  const isDomain = slash >= 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  if (isDomain && first !== "docker.io" && first !== "index.docker.io") return { domain: first, rest: image.slice(slash + 1) };
  const rest = isDomain ? image.slice(slash + 1) : image;
  return { domain: "docker.io", rest: rest.includes("/") ? rest : `library/${rest}` };
}
