import { type Json, type JsonObject, type KubeObject, at, isObject, listAt, textAt, timestamp } from "../../object/model.js";
import { age, NAME, PLAIN_COLUMNS } from "./columns.js";
import { jsonPath } from "./json-path.js";
import type { PrinterColumn, ResourceType } from "./resource-type.js";

/** Returns the resource types that a CustomResourceDefinition declares, one per served version. */
export function typesOf(definition: KubeObject): ResourceType[] {
  const group = textAt(definition, "spec", "group") ?? "";
  const names = at(definition, "spec", "names");
  const plural = textAt(names, "plural") ?? "";
  const kind = textAt(names, "kind") ?? "";
  const texts = (field: string) => listAt(names, field).filter((v): v is string => typeof v === "string");
  return listAt(definition, "spec", "versions").flatMap((version): ResourceType[] => {
    if (at(version, "served") !== true) return [];
    const status = at(version, "subresources", "status") !== undefined;
    return [
      {
        group,
        version: textAt(version, "name") ?? "",
        kind,
        listKind: textAt(names, "listKind") ?? `${kind}List`,
        plural,
        singular: textAt(names, "singular") ?? kind.toLowerCase(),
        shortNames: texts("shortNames"),
        categories: texts("categories"),
        namespaced: textAt(definition, "spec", "scope") !== "Cluster",
        subresources: status ? ["status"] : [],
        statusSubresource: status,
        builtIn: false,
        storage: `${group}/${plural}`,
        columns: columnsOf(listAt(version, "additionalPrinterColumns")),
      },
    ];
  });
}

function columnsOf(declared: readonly Json[]): readonly PrinterColumn[] {
  if (declared.length === 0) return PLAIN_COLUMNS;
  return [NAME, ...declared.filter(isObject).map(columnOf)];
}

function columnOf(column: JsonObject): PrinterColumn {
  const path = textAt(column, "jsonPath") ?? "";
  const type = (textAt(column, "type") ?? "string") as PrinterColumn["type"];
  const description = textAt(column, "description");
  return {
    name: textAt(column, "name") ?? "",
    type,
    priority: Number(column["priority"] ?? 0),
    ...(description === undefined ? {} : { description }),
    cell: (object, now) => {
      const value = jsonPath(object, path);
      if (type === "date") return typeof value === "string" ? age(value, now) : "<unknown>";
      return typeof value === "object" && value !== null ? JSON.stringify(value) : (value ?? "");
    },
  };
}

/**
 * Sets the names, stored versions and conditions of an accepted definition, for which clients wait.
 */
export function established(definition: KubeObject, now: number): KubeObject {
  const names = at(definition, "spec", "names");
  const spec = isObject(definition["spec"]) ? definition["spec"] : {};
  const kind = textAt(names, "kind") ?? "";
  const fullNames: JsonObject = { singular: kind.toLowerCase(), listKind: `${kind}List`, ...(isObject(names) ? names : {}) };
  const stored = listAt(definition, "spec", "versions").filter((v) => at(v, "storage") === true);
  const condition = (type: string, reason: string, message: string): JsonObject => ({
    type,
    status: "True",
    lastTransitionTime: timestamp(now),
    reason,
    message,
  });
  const known = listAt(definition, "status", "conditions");
  return {
    ...definition,
    spec: { conversion: { strategy: "None" }, ...spec, names: fullNames },
    status: {
      acceptedNames: fullNames,
      conditions:
        known.length > 0
          ? known
          : [
              condition("NamesAccepted", "NoConflicts", "no conflicts found"),
              condition("Established", "InitialNamesAccepted", "the initial names have been accepted"),
            ],
      storedVersions: stored.map((v) => textAt(v, "name") ?? ""),
    },
  };
}
