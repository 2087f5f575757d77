import protobuf from "protobufjs";
import { fieldFact, httpFact, methodFact, type Facts, type FieldFact, type HttpFact } from "./facts.js";

export interface PublishedSource {
  /** Folder that holds `flyteidl/`. */
  readonly folder: string;
  /** Paths below the folder, such as `flyteidl/core/literals.proto`. */
  readonly paths: readonly string[];
}

/**
 * Reads the facts from published .proto files. Imports from outside flyteidl hold options only and
 * are skipped.
 */
export function publishedFacts({ folder, paths }: PublishedSource): Facts {
  const root = new protobuf.Root();
  root.resolvePath = (_, target) => {
    if (target.startsWith(folder)) return target;
    return target.startsWith("flyteidl/") ? `${folder}/${target}` : target.startsWith("google/protobuf/") ? target : null;
  };
  root.loadSync(
    paths.map((path) => `${folder}/${path}`),
    { keepCase: true },
  );
  root.resolveAll();
  const facts = new Map<string, string>();
  addNamespace({ facts, folder }, root);
  return facts;
}

interface Target {
  readonly facts: Map<string, string>;
  readonly folder: string;
}

function addNamespace(target: Target, namespace: protobuf.NamespaceBase): void {
  for (const object of namespace.nestedArray) {
    const name = nameOf(object);
    if (name.startsWith("google.")) continue;
    const where = object.filename?.slice(target.folder.length + 1) ?? "";
    if (object instanceof protobuf.Type) {
      target.facts.set(name, `message in ${where}`);
      for (const field of object.fieldsArray) target.facts.set(`${name}.${field.name}`, factOf(field));
      addNamespace(target, object);
    } else if (object instanceof protobuf.Enum) {
      target.facts.set(name, `enum in ${where}`);
      for (const [value, number] of Object.entries(object.values)) target.facts.set(`${name}.${value}`, `value ${number}`);
    } else if (object instanceof protobuf.Service) {
      target.facts.set(name, `service in ${where}`);
      for (const method of object.methodsArray) addMethod(target, name, method);
    } else if (object instanceof protobuf.Namespace) {
      addNamespace(target, object);
    }
  }
}

function nameOf(object: protobuf.ReflectionObject): string {
  return object.fullName.replace(/^\./, "");
}

function factOf(field: protobuf.Field): string {
  const value = field.resolvedType ? nameOf(field.resolvedType) : field.type;
  const type = field instanceof protobuf.MapField ? `map<${field.keyType}, ${value}>` : value;
  // An optional field is in a synthetic oneof, which has no name on the wire.
  const optional = field.options?.proto3_optional === true;
  const oneof = optional ? undefined : field.partOf?.name;
  const jsonName = typeof field.options?.json_name === "string" ? field.options.json_name : camel(field.name);
  return fieldFact({ number: field.id, type, label: labelOf(field, optional), oneof, jsonName });
}

function labelOf(field: protobuf.Field, optional: boolean): FieldFact["label"] {
  if (field instanceof protobuf.MapField) return "map";
  if (field.repeated) return "repeated";
  return optional ? "optional" : "single";
}

/**
 * Converts a field name to JSON as protoc does: removes each underscore and capitalizes the letter
 * after it.
 */
function camel(name: string): string {
  return name.replace(/_+(.?)/g, (_, next: string) => next.toUpperCase());
}

function addMethod({ facts }: Target, service: string, method: protobuf.Method): void {
  const name = `${service}.${method.name}`;
  const input = method.resolvedRequestType ? nameOf(method.resolvedRequestType) : method.requestType;
  const output = method.resolvedResponseType ? nameOf(method.resolvedResponseType) : method.responseType;
  facts.set(
    name,
    methodFact({ input, output, clientStreams: method.requestStream === true, serverStreams: method.responseStream === true }),
  );
  const rules =
    (method.parsedOptions as Record<string, Rule>[] | undefined)?.flatMap((options) => options["(google.api.http)"] ?? []) ?? [];
  const bindings = rules.flatMap((rule) => [bindingOf(rule), ...[rule.additional_bindings ?? []].flat().map(bindingOf)]);
  if (bindings.length > 0) facts.set(`${name} over HTTP`, httpFact(bindings));
}

type Rule = Readonly<Partial<Record<"get" | "put" | "post" | "delete" | "patch" | "body", string>>> & {
  readonly additional_bindings?: Rule | readonly Rule[];
};

function bindingOf(rule: Rule): HttpFact {
  for (const verb of ["get", "put", "post", "delete", "patch"] as const) {
    const path = rule[verb];
    if (path !== undefined) return { verb, path, body: rule.body ?? "" };
  }
  return { verb: "none", path: "", body: "" };
}
