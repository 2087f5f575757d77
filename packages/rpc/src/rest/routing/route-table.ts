import { getOption, hasOption, type DescField, type DescMessage, type DescMethod } from "@bufbuild/protobuf";
import { http } from "@flyte-ts/idl/google/api/annotations_pb";
import type { HttpRule } from "@flyte-ts/idl/google/api/http_pb";
import type { ServedService } from "../../service.js";
import { matchTemplate, parseTemplate, type PathTemplate, type PathValue } from "./path-template.js";

/** Target of the request body: none, the whole request, or one field of it. */
export type BodyTarget = { readonly kind: "none" } | { readonly kind: "whole" } | { readonly kind: "field"; readonly field: DescField };

/** An HTTP route to a method. */
export interface Route {
  readonly served: ServedService;
  readonly method: DescMethod;
  readonly verb: string;
  readonly template: PathTemplate;
  readonly body: BodyTarget;
}

export interface Matched {
  readonly route: Route;
  readonly values: readonly PathValue[];
}

export type Lookup =
  | { readonly kind: "found"; readonly matched: Matched }
  | { readonly kind: "wrong-method"; readonly get?: Matched }
  | { readonly kind: "unknown" };

export interface RouteTable {
  readonly routes: readonly Route[];
  /**
   * Looks up the decoded components of a path. When the path has no route for the verb, `get` is
   * its GET route.
   */
  find(verb: string, components: readonly string[]): Lookup;
}

/** Builds the routes of all services from the google.api.http rules of their methods. */
export function createRouteTable(services: readonly ServedService[]): RouteTable {
  const routes = services.flatMap((served) =>
    served.service.methods.flatMap((method) => bindingsOf(method).map((rule) => routeOf({ served, method, rule }))),
  );
  const byVerb = new Map<string, Route[]>();
  // The last declared of several matching routes wins, as in grpc-gateway.
  for (const route of routes.toReversed()) {
    const known = byVerb.get(route.verb);
    if (known) known.push(route);
    else byVerb.set(route.verb, [route]);
  }
  const match = (verb: string, components: readonly string[]): Matched | undefined => {
    for (const route of byVerb.get(verb) ?? []) {
      const values = matchTemplate(route.template, components);
      if (values) return { route, values };
    }
    return undefined;
  };
  return {
    routes,
    find(verb, components) {
      const matched = match(verb, components);
      if (matched) return { kind: "found", matched };
      const get = match("GET", components);
      if (get) return { kind: "wrong-method", get };
      const other = [...byVerb.keys()].some((each) => match(each, components) !== undefined);
      return { kind: other ? "wrong-method" : "unknown" };
    },
  };
}

/** Methods with client streams have no REST interface: HTTP/1.1 carries one request. */
function bindingsOf(method: DescMethod): HttpRule[] {
  if (!hasOption(method, http) || method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming") return [];
  const rule = getOption(method, http);
  return [rule, ...rule.additionalBindings];
}

function routeOf({ served, method, rule }: { served: ServedService; method: DescMethod; rule: HttpRule }): Route {
  const { verb, path } = patternOf(method, rule);
  const template = parseTemplate(path);
  for (const { fieldPath } of template.variables) checkPath(method, fieldPath);
  return { served, method, verb, template, body: bodyOf(method, rule.body) };
}

function patternOf(method: DescMethod, { pattern }: HttpRule): { verb: string; path: string } {
  switch (pattern.case) {
    case "get":
    case "put":
    case "post":
    case "delete":
    case "patch":
      return { verb: pattern.case.toUpperCase(), path: pattern.value };
    case "custom":
      return { verb: pattern.value.kind, path: pattern.value.path };
    case undefined:
      throw new Error(`${method.toString()}: its HTTP rule names no path`);
  }
}

function checkPath(method: DescMethod, fieldPath: readonly string[]): void {
  let message: DescMessage | undefined = method.input;
  for (const [index, name] of fieldPath.entries()) {
    const field: DescField | undefined = message?.fields.find((each) => each.name === name);
    const fits =
      index === fieldPath.length - 1 ? field?.fieldKind === "scalar" || field?.fieldKind === "enum" : field?.fieldKind === "message";
    if (!fits)
      throw new Error(`${method.toString()}: its HTTP path names the field ${fieldPath.join(".")}, which cannot be part of a path`);
    message = field?.message;
  }
}

function bodyOf(method: DescMethod, body: string): BodyTarget {
  if (body === "") return { kind: "none" };
  if (body === "*") return { kind: "whole" };
  const field = method.input.fields.find((each) => each.name === body);
  if (field?.fieldKind !== "message") throw new Error(`${method.toString()}: its HTTP body ${body} is not a message field`);
  return { kind: "field", field };
}
