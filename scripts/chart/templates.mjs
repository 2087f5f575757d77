// Builds the chart's templates from deploy/kubernetes.
import { isDeepStrictEqual } from "node:util";
import { addWhen, idOf } from "./additions.mjs";
import { BASES, COMPONENTS, conditionOf } from "./composition.mjs";
import { build } from "./kustomize.mjs";
import { parametrize } from "./parameters.mjs";
import { print } from "./print.mjs";
import { SERVICES } from "./services.mjs";
import { Document, When } from "./tree.mjs";

/** Kinds in the chart's `crds`: Helm creates them first and never deletes them. */
const isDefinition = ({ kind }) => kind === "CustomResourceDefinition";

/**
 * @returns `templates`: texts by file name; `definitions`: text for crds; `defaults`: objects of
 * the manifests, for default values
 */
export function templatesOf() {
  const { objects, definitions } = gather();
  const bare = structuredClone(objects.map(({ object }) => object));
  addComponents(objects);
  const added = structuredClone(objects.slice(bare.length).map(({ object }) => object));
  for (const { object } of objects) parametrize(object);
  return { templates: filesOf([...objects, site()]), definitions: definitions.map(print).join("---\n"), defaults: [...bare, ...added] };
}

function filesOf(objects) {
  const files = new Map();
  for (const { file, conditions, object } of objects) {
    const condition = anyOf(conditions);
    const sections = files.get(`${file}.yaml`) ?? [];
    files.set(`${file}.yaml`, sections);
    if (sections.at(-1)?.condition !== condition) sections.push({ condition, text: "" });
    sections.at(-1).text += `---\n${print(object)}`;
  }
  return [...files].map(([file, sections]) => [
    file,
    sections.map(({ condition, text }) => `{{- if ${condition} }}\n${text}{{- end }}\n`).join(""),
  ]);
}

function anyOf(conditions) {
  if (conditions.length === 1) return conditions[0];
  return `or ${conditions.map((each) => (each.includes(" ") ? `(${each})` : each)).join(" ")}`;
}

function gather() {
  const objects = [];
  const definitions = [];
  for (const [folder, base] of Object.entries(BASES)) {
    for (const object of build({ bases: [folder] })) {
      if (isDefinition(object)) definitions.push(object);
      else objects.push({ file: base.file, conditions: [conditionOf(base)], object });
    }
  }
  return { objects, definitions };
}

function addComponents(objects) {
  const pristine = new Map(objects.map(({ object }) => [idOf(object), structuredClone(object)]));
  for (const [folder, component] of Object.entries(COMPONENTS)) {
    const condition = conditionOf(component);
    const without = new Set(build({ bases: component.on }).map(idOf));
    for (const after of build({ bases: component.on, components: [folder] })) {
      if (isDefinition(after)) continue;
      const id = idOf(after);
      const before = pristine.get(id);
      if (without.has(id)) {
        const target = objects.find(({ object }) => idOf(object) === id).object;
        addWhen({ target, before, after, condition, path: id });
      } else {
        const same = objects.find(({ object }) => isDeepStrictEqual(object, after));
        if (same === undefined) objects.push({ file: component.file, conditions: [condition], object: after });
        else same.conditions.push(condition);
      }
    }
  }
}

/** Settings of the site, which an overlay has in `site/`. */
function site() {
  const data = Object.entries(SERVICES)
    .filter(([, { siteConfigMap }]) => siteConfigMap === undefined)
    .map(([name, { values, part }]) => [`${name}.yaml`, new When(`.Values.parts.${part}`, new Document(`.Values.${values}.settings`))]);
  const metadata = { name: "flyte-site", namespace: "flyte" };
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata, data: Object.fromEntries(data) };
  parametrize(object);
  return { file: "site", conditions: [".Values.parts.controlPlane", ".Values.parts.dataPlane"], object };
}
