/** Values of colour tokens, which drawings need as plain colours, by their names without dashes. */
export type TokenColours<Name extends string> = Readonly<Record<Name, string>>;

/** Reads tokens such as `ok` as the theme resolves them now. */
export function readTokenColours<Name extends string>(names: readonly Name[], root = document.documentElement): TokenColours<Name> {
  const probes = document.createElement("span");
  probes.hidden = true;
  for (const name of names) {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    probes.append(probe);
  }
  root.append(probes);
  const colours = Object.fromEntries(
    names.map((name, index) => [name, getComputedStyle(probes.children[index] as Element).color]),
  ) as Record<Name, string>;
  probes.remove();
  return colours;
}
