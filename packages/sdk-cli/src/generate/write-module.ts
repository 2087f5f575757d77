import type { RegisteredInterface } from "./registered-interface.js";
import { writeFields, writeType } from "./write-type.js";

/** Name of the output of `outputs: t.int`, and of a Python function with one. */
const SINGLE_OUTPUT = "o0";
const RESERVED = new Set(
  "t reference await break case catch class const continue debugger default delete do else enum export extends false finally for function if import in instanceof new null return static super switch this throw true try typeof var void while with yield let".split(
    " ",
  ),
);

/** Writes a module with a reference for each entity. The same entities give the same text. */
export function writeModule(entities: readonly RegisteredInterface[], options: { readonly pin: boolean }): string {
  const sorted = entities.toSorted((a, b) => compare(`${a.name} ${a.kind}`, `${b.name} ${b.kind}`));
  const names = exportNames(sorted);
  const parts = sorted.map((entity, index) => writeReference(entity, { exportName: names[index] ?? "", pin: options.pin }));
  return `// Written by \`flyte-ts generate\`; do not edit.\nimport { reference, t } from "@flyte-ts/sdk";\n\n${parts.join("\n")}`;
}

function writeReference(entity: RegisteredInterface, { exportName, pin }: { readonly exportName: string; readonly pin: boolean }): string {
  const { kind, project, domain, name, version, description } = entity;
  const text = (value: string) => JSON.stringify(value);
  const address = `kind: ${text(kind)}, project: ${text(project)}, domain: ${text(domain)}, name: ${text(name)}`;
  const comment = description.trim() === "" ? "" : `/** ${description.trim().replaceAll(/\s+/g, " ").replaceAll("*/", "* /")} */\n`;
  const lines = [
    `${comment}export const ${exportName} = reference(`,
    `  { ${address}${pin ? `, version: ${text(version)}` : ""} },`,
    `  {\n    ${faceOf(entity).join(",\n    ")},\n  },`,
    ");",
  ];
  return `${lines.join("\n")}\n`;
}

function faceOf({ inputs, outputs }: RegisteredInterface): string[] {
  const names = Object.keys(outputs);
  const single = names.length === 1 ? outputs[SINGLE_OUTPUT] : undefined;
  const written = single !== undefined ? writeType(single) : names.length === 0 ? "undefined" : writeFields(outputs);
  return [`inputs: ${writeFields(inputs)}`, `outputs: ${written}`];
}

/** Names exports by the last part of the name, or by more of it where that is not unique. */
function exportNames(entities: readonly RegisteredInterface[]): string[] {
  const taken = new Set<string>();
  return entities.map(({ kind, name }) => {
    const parts = name.split(".");
    const candidates = parts.map((_, index) => identifier(parts.slice(parts.length - 1 - index)));
    const own = candidates.find((candidate) => !taken.has(candidate)) ?? unused(identifier([...parts, kind]), taken);
    taken.add(own);
    return own;
  });
}

function identifier(words: readonly string[]): string {
  const text = words.join("_").replaceAll(/[^\w$]/g, "_");
  return /^\d/.test(text) || RESERVED.has(text) ? `_${text}` : text;
}

function unused(name: string, taken: ReadonlySet<string>): string {
  let found = name;
  for (let count = 2; taken.has(found); count++) found = `${name}${count}`;
  return found;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Entity of a generated file: its address and the rest of its text without the version. */
export type WrittenReferences = ReadonlyMap<string, string>;

/** Reads the references of a generated file. */
export function readReferences(text: string): WrittenReferences {
  const found = new Map<string, string>();
  const pattern = /export const \w+ = reference\(\n {2}\{ (kind: .*?, name: "(?:[^"\\]|\\.)*").*\n([^]*?)\n\);/g;
  for (const [, address = "", face = ""] of text.matchAll(pattern)) found.set(address, face);
  return found;
}

/** Lists the names of the entities whose interfaces differ, and of those that came or went. */
export function changedReferences(before: WrittenReferences, after: WrittenReferences): string[] {
  const addresses = new Set([...before.keys(), ...after.keys()]);
  return [...addresses]
    .filter((address) => before.get(address) !== after.get(address))
    .map((address) => JSON.parse(address.slice(address.lastIndexOf('"', address.length - 2))) as string);
}
