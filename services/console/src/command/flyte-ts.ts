import { endpointOf, type LaunchFacts } from "./launch-facts.js";
import { requestJson } from "./request-json.js";
import { hereDocument, quote } from "./shell.js";

/** Formats a launch as `flyte-ts launch`, which reads the call itself. */
export function flyteTsCommand(facts: LaunchFacts): string {
  const { host, insecure } = endpointOf(facts);
  const endpoint = insecure ? host : `https://${host}`;
  return `npx flyte-ts launch --endpoint ${quote(endpoint)} - ${hereDocument(requestJson(facts.request))}`;
}
