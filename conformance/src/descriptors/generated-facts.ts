import {
  getOption,
  hasOption,
  ScalarType,
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
} from "@bufbuild/protobuf";
import { nestedTypes } from "@bufbuild/protobuf/reflect";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import type { HttpRule } from "@flyte-ts/idl/google/api/http_pb";
import { fieldFact, httpFact, methodFact, type Facts, type FieldFact, type HttpFact } from "./facts.js";

/** Reads the facts from descriptors generated from idl/. */
export function ourFacts(files: Iterable<DescFile>): Facts {
  const facts = new Map<string, string>();
  for (const file of files) {
    for (const type of nestedTypes(file)) {
      switch (type.kind) {
        case "message":
          facts.set(type.typeName, `message in ${file.proto.name}`);
          addFields(facts, type);
          break;
        case "enum":
          facts.set(type.typeName, `enum in ${file.proto.name}`);
          addValues(facts, type);
          break;
        case "service":
          facts.set(type.typeName, `service in ${file.proto.name}`);
          addMethods(facts, type);
          break;
        case "extension":
          facts.set(type.typeName, `extension of ${type.extendee.typeName} = ${type.number}`);
          break;
      }
    }
  }
  return facts;
}

function addFields(facts: Map<string, string>, message: DescMessage): void {
  for (const field of message.fields) {
    const { number, jsonName } = field;
    const oneof = field.oneof?.name;
    facts.set(`${message.typeName}.${field.name}`, fieldFact({ number, type: typeOf(field), label: labelOf(field), oneof, jsonName }));
  }
}

function labelOf(field: DescField): FieldFact["label"] {
  switch (field.fieldKind) {
    case "list":
      return "repeated";
    case "map":
      return "map";
    case "scalar":
    case "enum":
    case "message":
      return field.proto.proto3Optional ? "optional" : "single";
  }
}

function typeOf(field: DescField): string {
  const value = field.message?.typeName ?? field.enum?.typeName ?? scalarName(field.scalar);
  return field.fieldKind === "map" ? `map<${scalarName(field.mapKey)}, ${value}>` : value;
}

function scalarName(type: ScalarType | undefined): string {
  return type === undefined ? "none" : ScalarType[type].toLowerCase();
}

function addValues(facts: Map<string, string>, desc: DescEnum): void {
  for (const { name, number } of desc.values) facts.set(`${desc.typeName}.${name}`, `value ${number}`);
}

function addMethods(facts: Map<string, string>, service: DescService): void {
  for (const method of service.methods) {
    const name = `${service.typeName}.${method.name}`;
    const { clientStreaming: clientStreams, serverStreaming: serverStreams } = method.proto;
    facts.set(name, methodFact({ input: method.input.typeName, output: method.output.typeName, clientStreams, serverStreams }));
    const bindings = bindingsOf(method);
    if (bindings.length > 0) facts.set(`${name} over HTTP`, httpFact(bindings));
  }
}

function bindingsOf(method: DescMethod): HttpFact[] {
  if (!hasOption(method, http)) return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings].map(bindingOf);
}

function bindingOf({ pattern, body }: HttpRule): HttpFact {
  return { verb: pattern.case ?? "none", path: typeof pattern.value === "string" ? pattern.value : "", body };
}
